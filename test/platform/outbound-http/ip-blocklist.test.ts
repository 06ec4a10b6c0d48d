import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bytesOfAddress, parseAddressRange } from '#server/platform/network/ip-address.ts';
import { isBlockedAddressText, validateUrl } from '#server/platform/outbound-http/validate-url.ts';

const forbidden4 =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
  192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32`.split(
    /\s+/,
  );
const forbidden6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const text6 = (all: readonly number[]) => all.map((group) => group.toString(16)).join(':');

/** Returns an address inside the range, with random bits after the prefix. */
function inside(range: string, drawn: readonly number[]): number[] {
  const { bytes, prefix } = parseAddressRange(range) ?? assert.fail(range);
  return [...bytes].map((byte, at) => {
    const free = (255 >> Math.min(8, Math.max(0, prefix - at * 8))) & 255;
    return (byte & ~free & 255) | ((drawn[at] ?? 0) & free);
  });
}

const pairsOf = (bytes: readonly number[]) =>
  Array.from({ length: bytes.length / 2 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0));

/** IPv6 addresses that embed an IPv4 address. */
function embeddings(bytes: readonly number[], drawn: readonly number[]): string[] {
  const [high = 0, low = 0] = pairsOf(bytes);
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = drawn;
  const prefixed = (...before: number[]) => text6([...before, high, low]);
  return [
    prefixed(0, 0, 0, 0, 0, 0xffff),
    prefixed(0, 0, 0, 0, 0, 0),
    prefixed(0, 0, 0, 0, 0xffff, 0),
    prefixed(0x64, 0xff9b, 0, 0, 0, 0),
    prefixed(0x64, 0xff9b, 1, a, b, c),
    text6([0x2002, high, low, a, b, c, d, e]),
    text6([0x2001, 0, a, b, c, d, high ^ 0xffff, low ^ 0xffff]),
    text6([0x2001, 0, high, low, a, b, c, d]),
  ];
}

/** Spellings of an IPv4 address that a URL may have. */
function spellings([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string[] {
  const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  return [
    `${a}.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}.`,
    String(number),
    hex(number),
    octal(number),
    `${a}.${number & 0xffffff}`,
    `${hex(a)}.${b}.${number & 0xffff}`,
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map(octal).join('.'),
    encodeURIComponent(`${a}.${b}.${c}.${d}`).replaceAll('.', '%2e'),
    [...`${a}.${b}.${c}.${d}`]
      .map((sign) => (sign === '.' ? '。' : String.fromCharCode(sign.charCodeAt(0) + 0xfee0)))
      .join(''),
  ];
}

const isRefused = (host: string) => 'refused' in validateUrl(`https://${host}/`, []);

describe('the IP blocklist of outgoing requests (specification section 6.5)', () => {
  for (const range of forbidden4) {
    it(`a host of ${range} is blocked in every spelling and inside every IPv6 address that leads to it (§6.5/ip-blocklist)`, () => {
      fc.assert(
        fc.property(octets, groups, (drawn, around) => {
          const bytes = inside(range, drawn);
          assert.ok(isBlockedAddressText(bytes.join('.'), []), bytes.join('.'));
          for (const spelling of spellings(bytes)) assert.ok(isRefused(spelling), spelling);
          for (const address of embeddings(bytes, around)) {
            assert.ok(isBlockedAddressText(address, []), address);
            assert.ok(isRefused(`[${address}]`), address);
          }
          assert.ok(isRefused(`[::ffff:${bytes.join('.')}]`));
        }),
        { numRuns: 60 },
      );
    });
  }

  const listOf = (ranges: readonly string[], family: 'ipv4' | 'ipv6') => {
    const list = new BlockList();
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      list.addSubnet(address, Number(prefix), family);
    }
    return list;
  };

  it('all other IPv4 addresses are allowed, as Node’s BlockList computes them (§6.5/ip-blocklist)', () => {
    const list = listOf(forbidden4, 'ipv4');
    fc.assert(
      fc.property(octets, (bytes) => {
        const address = bytes.join('.');
        assert.equal(isBlockedAddressText(address, []), list.check(address, 'ipv4'), address);
        if (!list.check(address, 'ipv4'))
          for (const spelling of spellings(bytes)) assert.ok(!isRefused(spelling), spelling);
      }),
      { numRuns: 3_000 },
    );
  });

  it('IPv6 is blocked outside of 2000::/3, and inside 2001::/23, 2001:db8::/32, 2002::/16 and 3fff::/20 (§6.5/ip-blocklist)', () => {
    const list = listOf(forbidden6, 'ipv6');
    const bytes16 = fc.array(fc.nat(255), { minLength: 16, maxLength: 16 });
    const any = fc.tuple(bytes16, fc.constantFrom('::/0', '2000::/3', '2001::/16', ...forbidden6));
    fc.assert(
      fc.property(any, ([drawn, range]) => {
        const address = text6(pairsOf(inside(range, drawn)));
        const isInternet = ((bytesOfAddress(address)?.[0] ?? 0) & 0xe0) === 0x20;
        assert.equal(isBlockedAddressText(address, []), !isInternet || list.check(address, 'ipv6'), address);
        assert.equal(isRefused(`[${address}]`), isBlockedAddressText(address, []), address);
      }),
      { numRuns: 3_000 },
    );
    for (const [first, last] of [
      ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
      ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ] as const) {
      assert.ok(isBlockedAddressText(first, []) && isBlockedAddressText(last, []));
    }
    for (const address of ['2000::', '2001:200::', '2606:4700::1111', '3fff:1000::', '3fff:ffff::1']) {
      assert.ok(!isBlockedAddressText(address, []), address);
    }
  });

  it('EGRESS_ALLOW_CIDRS allows exactly its ranges, each for its own address family (§6.5/allowed-ranges)', () => {
    const allowed = ['127.0.0.0/8', 'fd00::/8'].flatMap((range) => parseAddressRange(range) ?? []);
    for (const address of ['127.0.0.1', '127.255.0.1', 'fd12::1'])
      assert.ok(!isBlockedAddressText(address, allowed), address);
    for (const address of ['126.0.0.1', '128.0.0.1'])
      assert.equal(isBlockedAddressText(address, allowed), isBlockedAddressText(address, []));
    for (const address of ['10.0.0.1', '::ffff:127.0.0.1', '::127.0.0.1', '::1', 'fc00::1', '2002:7f00:1::'])
      assert.ok(isBlockedAddressText(address, allowed), address);
  });

  it('a text that is no address is blocked (§6.5/ip-blocklist)', () => {
    const texts = 'example.com 1.2.3 1.2.3.4.5 fe80::1%eth0 2606:4700::1%eth0 01.2.3.4'.split(' ');
    for (const text of ['', ...texts]) assert.ok(isBlockedAddressText(text, []), text);
  });
});
