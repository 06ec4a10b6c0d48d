import type { FastifyRequest } from 'fastify';
import type { Logger } from '#server/platform/process/logger.ts';
import { type AddressRange, bytesOfAddress, isInRange, parseAddressRange } from './ip-address.ts';

/** Number of addresses of X-Forwarded-For that are examined, from its end; a client may write 8,000 into a header. */
export const forwardedAddressesMax = 20;

/** Names that TRUST_PROXY accepts for address ranges (docs/configuration.md). */
export const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * A documentation address (RFC 5737). `ownline doctor` sends it in X-Forwarded-For, and a proxy must not pass it on as
 * the client's address.
 */
export const spoofedAddress = '192.0.2.77';

/**
 * Decides which X-Forwarded-For is trusted to name the client (docs/configuration.md). Fastify follows the header
 * from its end while each address is trusted. It follows at most 20 addresses, because a header may hold thousands.
 * @param trusted addresses, ranges and range names of TRUST_PROXY
 * @returns whether to trust the address at a hop; hop 0 is the peer of the socket
 */
export function createTrustProxy(trusted: readonly string[]): (address: string, hop: number) => boolean {
  const ranges = trusted
    .flatMap((text) => namedRanges[text] ?? [text])
    .flatMap((text) => unmapRange(parseAddressRange(text)));
  return (address, hop) => {
    if (hop >= forwardedAddressesMax) return false;
    const bytes = bytesOfAddress(address.replace(/%.*$/, ''));
    return bytes !== undefined && ranges.some((range) => isInRange(unmap(bytes), range));
  };
}

const mappedPrefix = 96;

/** Unwraps an IPv4 address from an IPv6 address such as `::ffff:10.0.0.1`; other addresses stay unchanged. */
function unmap(bytes: Uint8Array): Uint8Array {
  return isMapped(bytes) ? bytes.subarray(mappedPrefix / 8) : bytes;
}

/**
 * Unwraps an IPv4 range from an IPv6 range. @returns an empty list for a range with both mapped and other addresses,
 * because no proxy has such a network
 */
function unmapRange(range: AddressRange | undefined): AddressRange[] {
  if (!range || !isMapped(range.bytes)) return range ? [range] : [];
  const prefix = range.prefix - mappedPrefix;
  return prefix > 0 ? [{ bytes: unmap(range.bytes), prefix }] : [];
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.subarray(0, 12).every((byte, at) => byte === (at < 10 ? 0 : 255));
}

/**
 * Warns once about a proxy that TRUST_PROXY does not name. All clients of such a proxy count as one network, and share
 * its limits (specification section 12.2).
 */
export function createProxyWarning(
  logger: Logger,
  trustProxy: readonly string[],
): (request: FastifyRequest) => void {
  let isDone = trustProxy.length > 0;
  return ({ headers, socket }) => {
    const forwarded = headers['x-forwarded-for'];
    // If the header is what `ownline doctor` sends, no proxy is involved: a proxy would have added an address or
    // replaced it.
    if (isDone || forwarded === undefined || forwarded === spoofedAddress) return;
    isDone = true;
    logger.warn(
      `A request came through a proxy at ${socket.remoteAddress}, which TRUST_PROXY does not name. All its clients count as one, so a few wrong passwords throttle all of them. Set TRUST_PROXY=${socket.remoteAddress}.`,
    );
  };
}
