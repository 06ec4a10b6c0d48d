import type { Config } from '#server/platform/config.ts';
import { bytesOfAddress, isInRange, parseAddressRange } from './ip-address.ts';

/** Explains which URLs phones can't open. @returns a sentence for each such URL; empty if phones may open all */
export function explainUnreachableLinks(config: Pick<Config, 'baseUrl' | 'appUrl' | 'deviceUrl'>): string[] {
  const { baseUrl, appUrl, deviceUrl } = config;
  return [...new Set([baseUrl, appUrl, deviceUrl])].filter(isUnreachable).map((url) => {
    const setting = url === baseUrl ? 'BASE_URL' : url === appUrl ? 'APP_URL' : 'DEVICE_URL';
    const problem =
      setting === 'DEVICE_URL'
        ? `iPhones are to call ${url}, which no iPhone can reach`
        : `Links begin with ${url}, which no iPhone can open`;
    return `${problem}: set ${setting} to an https address that phones reach, such as https://texts.example.com (docs/operations.md).`;
  });
}

/** Why an iPhone outside of the local network can't use a base URL. */
export type AddressProblem = 'loopback' | 'private' | 'plain_http';

/**
 * Checks the base URL that an iPhone polls. `private` is an address or name of a local
 * network; `plain_http` is any other URL without TLS.
 * @returns undefined for a usable URL
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

/** Endings of names that no public name server knows (RFC 6762, RFC 8375, and common router defaults). */
const privateName = /\.(local|lan|home|internal|intranet|corp|home\.arpa)$/;

function isPrivateHost(host: string): boolean {
  const bytes = bytesOfAddress(host);
  return bytes === undefined
    ? privateName.test(host)
    : privateRanges.some((range) => isInRange(bytes, range));
}

/** True if a URL's host is this machine, no valid host, or known to a local name server only. */
function isUnreachable(url: string): boolean {
  const host = new URL(url).hostname.replace(/\.$/, '');
  return (
    /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\]|localhost|.*\.localhost)$/.test(
      host,
    ) || !/[.:]/.test(host)
  );
}
