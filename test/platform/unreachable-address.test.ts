import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainUnreachableLinks, findAddressProblem } from '#server/platform/network/unreachable-links.ts';

const unreachable =
  '127.0.0.1 127.1.2.3 0.0.0.0 [::] [::1] [::ffff:127.0.0.1] localhost LOCALHOST. ownline.localhost server server.';
const reachable = '192.168.1.20 10.0.0.2 ownline.example.com mac.local [fd00::1] [2001:db8::1]';

describe('the warning of addresses that no iPhone can open', () => {
  const right = 'https://ownline.example.com';
  const explain = (urls: { baseUrl?: string; appUrl?: string; deviceUrl?: string }) =>
    explainUnreachableLinks({ baseUrl: right, appUrl: right, deviceUrl: right, ...urls });

  it('the warning about a host is one sentence that names BASE_URL, and a reachable host has no warning', () => {
    for (const host of unreachable.split(' ')) {
      const url = `http://${host}:3000`;
      const sentences = explain({ baseUrl: url, appUrl: url, deviceUrl: url });
      assert.equal(sentences.length, 1, host);
      assert.match(sentences[0] ?? '', /^Links begin with \S+, which no iPhone can open: set BASE_URL to /);
      assert.ok(sentences[0]?.includes(url));
    }
    for (const host of reachable.split(' ')) {
      const url = `https://${host}`;
      assert.deepEqual(explain({ baseUrl: url, appUrl: url, deviceUrl: url }), [], host);
    }
  });

  it('the warning names DEVICE_URL or APP_URL if only that address is unreachable', () => {
    assert.match(
      explain({ deviceUrl: 'https://{team}.localhost' }).join('|'),
      /^iPhones are to call https:\/\/\{team\}\.localhost, which no iPhone can reach: set DEVICE_URL to [^|]+$/,
    );
    assert.match(explain({ appUrl: 'http://localhost:3000/app' }).join('|'), /^[^|]+: set APP_URL [^|]+$/);
  });
});

describe('the problem of addresses that an iPhone does not reach from everywhere', () => {
  const cases: Readonly<Record<string, string | undefined>> = {
    'http://127.0.0.1:3000': 'loopback',
    'https://localhost': 'loopback',
    'https://server': 'loopback',
    'http://192.168.1.20:3000': 'private',
    'https://10.1.2.3': 'private',
    'https://172.31.255.1': 'private',
    'https://100.64.0.7': 'private',
    'http://[fd00::1]:3000': 'private',
    'https://mac.local': 'private',
    'https://ownline.home.arpa.': 'private',
    'http://texts.example.com': 'plain_http',
    'http://172.32.0.1': 'plain_http',
    'https://texts.example.com': undefined,
    'https://mac.tailnet.ts.net/app': undefined,
    'https://[2001:db8::1]': undefined,
    'https://local.example.com': undefined,
  };
  for (const [url, problem] of Object.entries(cases))
    it(`the address problem of ${url} is ${problem ?? 'none'}`, () =>
      assert.equal(findAddressProblem(url), problem));
});
