import { isIPv4, isIPv6 } from 'node:net';

/**
 * What attempts from an address are counted under (specification section 12.2): the address, and of IPv6 the network of
 * 64 bits, because whoever has one address of it has them all. A proxy may write the port beside it, which is another
 * one with each connection. All that is no address is one source, or whoever may make it up would have many.
 */
export function sourceOf(ip: string): string {
  const address = withoutPort(ip.trim()).replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return 'unknown';
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return groups.slice(6).flatMap(bytesOf).join('.');
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function withoutPort(written: string): string {
  const parts = /^\[(?<v6>[^\]]*)\](?::\d+)?$|^(?<v4>[\d.]+):\d+$/.exec(written)?.groups;
  return parts?.v6 ?? parts?.v4 ?? written;
}

/** The eight groups of an IPv6 address, in lower case and without leading zeros, as the URL standard writes it. */
function groupsOf(address: string): string[] {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = written.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

function bytesOf(group: string): [number, number] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
