import { isIP } from 'node:net';
import { urlMaxCharacters } from '#contract/url.ts';
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
 * range (mapped, compatible, both prefixes of NAT64). The other such addresses are blocked: Teredo within 2001::/23,
 * and 6to4 (2002::/16).
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

/** The target of a request, read from its URL without a DNS look-up. */
export interface Target {
  /** The origin, such as `https://example.com:8443`, without a dot at the end of the name. */
  readonly origin: string;
  readonly secure: boolean;
  /** The name, or a literal address without brackets. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
  /** Path and query. */
  readonly path: string;
}

/** `isMalformed`: the URL is refused for its form, not for its destination. */
export type ValidatedUrl =
  | { readonly target: Target }
  | { readonly refused: string; readonly isMalformed?: true };

/** Matches `https://@host` and `https://:@host`, whose empty user info the URL parser drops. */
const emptyUserInfo = /^[a-z][a-z0-9+.-]*:[/\\]*:?@/i;

/**
 * Validates the parts of a URL that need no DNS look-up (specification section 6.5). The URL standard's parser gives
 * every spelling of an address one form: `0x7f.1`, `2130706433` and `127.1` become 127.0.0.1. The connection uses this
 * parsed address, so no second parser can read the URL as another address.
 * @returns the target, or a sentence for the person who entered the URL
 */
export function validateUrl(text: string, allowed: readonly AddressRange[]): ValidatedUrl {
  if (text.length > urlMaxCharacters) {
    const max = urlMaxCharacters.toLocaleString('en');
    return malformed(`The URL is too long. Use one of at most ${max} characters.`);
  }
  const url = /[\s\p{Cc}]/u.test(text) ? undefined : (URL.parse(text) ?? undefined);
  if (!url) return malformed('This is not a URL. Write it in full, such as https://example.com/path.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { refused: 'The URL has to begin with https://.' };
  }
  if (url.username !== '' || url.password !== '' || emptyUserInfo.test(text)) {
    return malformed('The URL has a user name or password in it. Leave them out: URLs are shown and logged.');
  }
  return validateHost(url, allowed);
}

const malformed = (refused: string): ValidatedUrl => ({ refused, isMalformed: true });

function validateHost(url: URL, allowed: readonly AddressRange[]): ValidatedUrl {
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const isLiteral = isIP(host) !== 0;
  const secure = url.protocol === 'https:';
  if (/^(.*\.)?localhost$/.test(host)) {
    return {
      refused:
        'The URL points at the machine that Ownline runs on. Use an address on the public internet; where ' +
        'EGRESS_ALLOW_CIDRS allows 127.0.0.0/8, write http://127.0.0.1 instead of a name.',
    };
  }
  if (isLiteral && isBlockedAddressText(host, allowed)) {
    return {
      refused:
        `The URL points at ${host}, a private, local or reserved address. Use one on the public internet, or ask ` +
        'the operator of Ownline to allow its range with EGRESS_ALLOW_CIDRS.',
    };
  }
  if (!isLiteral && !isName(host))
    return malformed('The host name in the URL is not valid. Check its spelling.');
  if (!secure && !(isLiteral && isInRanges(host, allowed))) {
    return {
      refused:
        'The URL has to begin with https://. Only literal addresses inside EGRESS_ALLOW_CIDRS may begin with ' +
        'http://, such as http://127.0.0.1:8080.',
    };
  }
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  if (port === 0) return malformed('The port in the URL has to be from 1 to 65535.');
  const origin = `${url.protocol}//${host.includes(':') ? `[${host}]` : host}${url.port === '' ? '' : `:${port}`}`;
  return { target: { origin, secure, host, isLiteral, port, path: `${url.pathname}${url.search}` } };
}

function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const bytes = bytesOfAddress(address);
  return bytes !== undefined && ranges.some((range) => isInRange(bytes, range));
}

function isName(host: string): boolean {
  return (
    host.length <= 253 &&
    /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/.test(host)
  );
}
