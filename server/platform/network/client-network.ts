import { isIPv4, isIPv6 } from 'node:net';
import { bytesOfGroup, ipv6Groups } from './ip-address.ts';

/**
 * What attempts from an address are counted under (specification section 12.2): the address, and of IPv6 the network of
 * 64 bits, because whoever has one address of it has them all. A proxy may write the port beside it, which is another
 * one with each connection. All that is no address is one client network, or whoever may make it up would have many.
 */
export function clientNetwork(ip: string): string {
  const address = withoutPort(ip.trim()).replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return 'unknown';
  const groups = ipv6Groups(address);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff')
    return groups.slice(6).flatMap(bytesOfGroup).join('.');
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function withoutPort(written: string): string {
  const parts = /^\[(?<v6>[^\]]*)\](?::\d+)?$|^(?<v4>[\d.]+):\d+$/.exec(written)?.groups;
  return parts?.v6 ?? parts?.v4 ?? written;
}
