import { isIPv4, isIPv6 } from 'node:net';
import { bytesOfGroup, ipv6Groups } from './ip-address.ts';

/**
 * The client network of an address, by which attempts are counted (specification section 12.2). It is an IPv4 address,
 * or the /64 network of an IPv6 address, because a client may use all of it. A port that a proxy adds is removed. All
 * invalid addresses count as one client network, so that forged addresses gain nothing.
 * @param ip undefined for a client that has disconnected
 */
export function clientNetwork(ip: string | undefined): string {
  const address = withoutPort((ip ?? '').trim()).replace(/%.*$/, '');
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
