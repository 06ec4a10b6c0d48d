import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAddressRange } from '#server/platform/network/ip-address.ts';
import { validateUrl } from '#server/platform/outbound-http/validate-url.ts';

const allowed = ['127.0.0.0/8', '10.1.0.0/16', 'fd00::/8'].flatMap((range) => parseAddressRange(range) ?? []);
const target = (url: string, ranges = allowed) => {
  const judged = validateUrl(url, ranges);
  return 'target' in judged ? judged.target : undefined;
};
const refusal = (url: string, ranges: typeof allowed = []) => {
  const judged = validateUrl(url, ranges);
  return 'refused' in judged ? judged.refused : undefined;
};

describe('the URL check of outgoing requests (specification section 6.5)', () => {
  it('literal addresses and localhost are refused in every spelling (§6.5/literal-addresses)', () => {
    // A few spellings suffice here: the tests of the IP blocklist try every range and spelling of an address.
    const hosts =
      `127.0.0.1 127.1 0x7F000001 2130706433 017700000001 127.1. 0 0x0 [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:7f00:1]
      [2001:0:7f00:1::] [fe80::1] 169.254.169.254 １２７.０.０.１ 127。0。0。1 %31%32%37.0.0.1 ①②⑦.0.0.1
      localhost LOCALHOST localhost. a.localhost A.LocalHost. ｌocalhost loc%61lhost`.split(/\s+/);
    for (const host of hosts) {
      assert.match(refusal(`https://${host}/`) ?? '', /^The URL points at /, host);
      assert.match(refusal(`https://${host}:8443/x?y`) ?? '', /^The URL points at /, host);
    }
  });

  it('every URL without https is refused with the reason (§6.5/https-urls)', () => {
    const table: readonly (readonly [RegExp, readonly string[]])[] = [
      [
        /not a URL/,
        [
          '',
          'example.com',
          '//example.com',
          'https://',
          'https:// example.com',
          'https://exa\tmple.com',
          ' https://example.com',
          'https://example.com\n',
          'https://[::1',
          'https://1.2.3.4.5',
          'https://a b',
          'https://a\u0000b',
        ],
      ],
      [
        /begin with https/,
        `ftp://example.com file:///etc/passwd javascript:1 ws://example.com data:,x http://example.com http://93.184.215.14
         HTTP://EXAMPLE.COM unix:/run/x.sock`.split(/\s+/),
      ],
      [
        /user name or password/,
        `https://user@example.com https://u:p@example.com https://:p@example.com https://@example.com
         https://:@example.com https:\\\\@example.com`.split(/\s+/),
      ],
      [
        /host name in the URL is not valid/,
        [`${'a'.repeat(64)}.example.com`, 'a..example.com', '-.example.com', `${'a.'.repeat(130)}com`].map(
          (host) => `https://${host}`,
        ),
      ],
      [/port/, ['https://example.com:0/']],
      [/at most 2,048/, [`https://example.com/${'a'.repeat(2_029)}`]],
    ];
    for (const [reason, urls] of table) for (const url of urls) assert.match(refusal(url) ?? '', reason, url);
    assert.equal(refusal(`https://example.com/${'a'.repeat(2_028)}`), undefined);
    assert.equal(refusal('https://example.com/@somebody?to=@x#:@'), undefined);
  });

  it('http is allowed to literal addresses inside EGRESS_ALLOW_CIDRS only (§6.5/https-urls, §6.5/literal-addresses)', () => {
    const urls =
      'http://127.0.0.1:8080/ http://127.1/ http://10.1.2.3/ http://[fd00::1]:80/ https://10.1.2.3/';
    for (const url of urls.split(' ')) assert.ok(target(url), url);
    const others =
      'http://93.184.215.14/ http://example.com/ http://10.2.0.1/ http://[::ffff:127.0.0.1]/ http://localhost/';
    for (const url of [...others.split(' '), 'https://localhost/']) assert.equal(target(url), undefined, url);
  });

  it('the result of the check has the normalized host to which the connection is made (§6.5/literal-addresses)', () => {
    const parts = (url: string) => {
      const { origin, secure, host, isLiteral, port, path } = target(url) ?? assert.fail(url);
      return [origin, secure, host, isLiteral, port, path];
    };
    for (const [url, ...expected] of [
      [
        'https://EXAMPLE.com.:443/a/../b?c=d#e',
        'https://example.com',
        true,
        'example.com',
        false,
        443,
        '/b?c=d',
      ],
      ['http://0x7f.1:8080', 'http://127.0.0.1:8080', false, '127.0.0.1', true, 8080, '/'],
      [
        'https://[2606:4700:0::1]:8443/',
        'https://[2606:4700::1]:8443',
        true,
        '2606:4700::1',
        true,
        8443,
        '/',
      ],
    ] as const)
      assert.deepEqual(parts(url), expected);
    assert.equal(target('https://bücher.example/')?.host, 'xn--bcher-kva.example');
  });
});
