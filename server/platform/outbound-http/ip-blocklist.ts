import {
  type AddressRange,
  bytesOfAddress,
  isInRange,
  parseAddressRange,
} from '#server/platform/network/ip-address.ts';

/** IP blocklist for IPv4: this host, private networks, ranges used inside providers, documentation, multicast. */
const blocked4 = rangesOf(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  // Azure serves the metadata of its virtual machines on this public address.
  '168.63.129.16/32',
);

/**
 * IP blocklist for IPv6: only global unicast is allowed. Most addresses that embed an IPv4 address lie outside of that
 * range (mapped, compatible, both prefixes of NAT64). The others are blocked: Teredo within 2001::/23, and 6to4
 * (2002::/16).
 */
const globalUnicast6 = rangesOf('2000::/3');
const blocked6 = rangesOf('2001::/23 2001:db8::/32 2002::/16 3fff::/20');

function rangesOf(...lists: readonly string[]): readonly AddressRange[] {
  return lists.flatMap((list) => list.split(' ').flatMap((text) => parseAddressRange(text) ?? []));
}

/** Whether an address is blocked (specification section 6.5). @param allowed EGRESS_ALLOW_CIDRS, never blocked */
function isBlockedAddress(address: Uint8Array, allowed: readonly AddressRange[]): boolean {
  const isIn = (ranges: readonly AddressRange[]) => ranges.some((range) => isInRange(address, range));
  if (isIn(allowed)) return false;
  return address.length === 4 ? isIn(blocked4) : !isIn(globalUnicast6) || isIn(blocked6);
}

/** Whether an address, given as text, is blocked. An invalid address counts as blocked. */
export function isBlockedAddressText(text: string, allowed: readonly AddressRange[]): boolean {
  const address = bytesOfAddress(text);
  return address === undefined || isBlockedAddress(address, allowed);
}
