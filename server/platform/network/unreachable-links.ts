import type { Config } from '#server/platform/config.ts';
import { bytesOfAddress, isInRange, parseAddressRange } from './ip-address.ts';

/**
 * Explains why phones can't open links, a sentence for each base URL; empty where they may.
 * @param urls the URLs to check
 */
export function explainUnreachableLinks(
  { baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>,
  urls: readonly string[] = [baseUrl, appUrl],
): string[] {
  return [...new Set(urls)].filter(isUnreachable).map((url) => {
    const setting = url === baseUrl ? 'BASE_URL' : 'APP_URL';
    return `Links begin with ${url}, which no iPhone can open: set ${setting} to an https address that phones reach, such as https://texts.example.com (docs/operations.md).`;
  });
}

/** Why an iPhone away from the local network can't use a base URL; undefined where it can. */
export type AddressProblem = 'loopback' | 'private' | 'plain_http';

/**
 * Checks the base URL that an iPhone is to poll (specification section 11.8). `private` is an address or a name of a
 * local network. `plain_http` is any other without TLS.
 */
export function findAddressProblem(url: string): AddressProblem | undefined {
  if (isUnreachable(url)) return 'loopback';
  const { hostname, protocol } = new URL(url);
  if (isPrivateHost(hostname.replace(/^\[|\]$|\.$/g, ''))) return 'private';
  return protocol === 'https:' ? undefined : 'plain_http';
}

const privateRanges = [
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['fc00::/7', 'fe80::/10'],
].flatMap((text) => parseAddressRange(text) ?? []);

/** Endings of names that no public name server knows (RFC 6762, RFC 8375, and what routers give out). */
const privateName = /\.(local|lan|home|internal|intranet|corp|home\.arpa)$/;

function isPrivateHost(host: string): boolean {
  const bytes = bytesOfAddress(host);
  return bytes === undefined
    ? privateName.test(host)
    : privateRanges.some((range) => isInRange(bytes, range));
}

/** Addresses of this machine or of none, and names that only a local name server knows. */
function isUnreachable(url: string): boolean {
  const host = new URL(url).hostname.replace(/\.$/, '');
  return (
    /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\]|localhost|.*\.localhost)$/.test(
      host,
    ) || !/[.:]/.test(host)
  );
}
