import { isIPv4, isIPv6 } from 'node:net';

/** Parses an address in any spelling, without brackets, to its 4 or 16 bytes. @returns undefined for an invalid one */
export function bytesOfAddress(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return Uint8Array.from(ipv6Groups(text).flatMap(bytesOfGroup));
}

/** The eight groups of an IPv6 address, in lower case without leading zeros, as in the URL standard. */
function ipv6Groups(address: string): string[] {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = written.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

function bytesOfGroup(group: string): [number, number] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}

export interface AddressRange {
  readonly bytes: Uint8Array;
  /** Number of leading bits that all addresses of the range share. */
  readonly prefix: number;
}

/** Parses `10.0.0.0/8`, `fd00::/8` or one address. @returns undefined for other texts */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', written, ...rest] = text.split('/');
  const bytes = bytesOfAddress(address);
  if (!bytes || rest.length > 0 || (written !== undefined && !/^\d{1,3}$/.test(written))) return undefined;
  const prefix = written === undefined ? bytes.length * 8 : Number(written);
  return prefix <= bytes.length * 8 ? { bytes, prefix } : undefined;
}

/** Whether an address lies in a range of the same family. */
export function isInRange(address: Uint8Array, { bytes, prefix }: AddressRange): boolean {
  if (address.length !== bytes.length) return false;
  return bytes.every((byte, at) => {
    const bits = Math.min(8, Math.max(0, prefix - at * 8));
    return (byte ^ (address[at] ?? 0)) >> (8 - bits) === 0;
  });
}

/**
 * The client network of an address, by which attempts are counted (specification section 12.2). It is an IPv4 address,
 * or the /64 network of an IPv6 address, because one client may use all addresses of such a network. A port that a
 * proxy adds is removed. All invalid addresses count as one client network, so that forged addresses gain nothing.
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
