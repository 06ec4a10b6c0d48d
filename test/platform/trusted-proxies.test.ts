import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { createTrustProxy, forwardedAddressesMax } from '#server/platform/network/trusted-proxies.ts';
import { createBareServer, givenListening } from '#test/support/http/bare-http-server.ts';

describe('the client behind trusted proxies', () => {
  const clients: string[] = [];
  const server = createBareServer([], {
    trustProxy: ['loopback', '10.0.0.0/8'],
    limitNotFound: async (request) => void clients.push(request.ip),
  });
  const bound = givenListening(server);

  /** Sends X-Forwarded-For. @returns the client's address as the limits count it */
  async function clientOf(forwarded: readonly string[]): Promise<string | undefined> {
    const headers = { 'x-forwarded-for': forwarded.join(', ') };
    await (await fetch(`http://127.0.0.1:${bound.port}/nothing`, { headers })).text();
    return clients.pop();
  }

  it('the client is the last address of X-Forwarded-For that is no trusted proxy', async () => {
    assert.equal(await clientOf([]), '127.0.0.1');
    assert.equal(await clientOf(['203.0.113.1']), '203.0.113.1');
    assert.equal(await clientOf(['203.0.113.1', '198.51.100.1', '10.0.0.1']), '198.51.100.1');
    assert.equal(await clientOf(['10.0.0.3', '10.0.0.2', '10.0.0.1']), '10.0.0.3');
  });

  it('the client is the 20th address from the end of X-Forwarded-For if all later ones are trusted', async () => {
    const proxies = (count: number) => Array.from({ length: count }, (_, n) => `10.0.0.${count - n}`);
    assert.equal(forwardedAddressesMax, 20);
    assert.equal(await clientOf(['203.0.113.1', ...proxies(19)]), '203.0.113.1');
    assert.equal(await clientOf(['203.0.113.1', ...proxies(20)]), '10.0.0.20');
    assert.equal(await clientOf(proxies(200)), '10.0.0.20');
    assert.equal(
      await clientOf(['203.0.113.1', ...Array.from({ length: 1_000 }, () => '10.0.0.7')]),
      '10.0.0.7',
    );
  });
});

describe('proxies that TRUST_PROXY names (docs/configuration.md)', () => {
  const settings = [
    ['loopback'],
    ['linklocal', '192.0.2.1'],
    ['uniquelocal'],
    ['10.0.0.0/8', '2001:db8::/33'],
    ['::ffff:10.0.0.1'],
    ['::ffff:10.1.0.0/112'],
    ['::/1'],
    ['128.0.0.0/1'],
  ];
  const addresses = [
    ...['127.0.0.1', '127.255.0.1', '::1', '::2', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    ...['169.254.9.9', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', '192.0.2.1', '192.0.2.2'],
    ...['10.0.0.1', '10.1.0.1', '10.2.0.1', '::ffff:10.0.0.1', '::ffff:10.1.2.3', '11.0.0.1'],
    ...['172.16.0.1', '172.32.0.1', '192.168.1.1', '192.169.1.1', 'fc00::1', 'fdff::1', 'fe00::1'],
    ...['2001:db8::1', '2001:db8:7fff::1', '2001:db8:8000::1', '203.0.113.1', '10.0.0.1:80', '', 'unknown'],
  ];

  for (const setting of settings) {
    it(`TRUST_PROXY=${setting.join(', ')} trusts the addresses that Fastify trusts for the same words`, async () => {
      const clientOf = async (trustProxy: string[] | ReturnType<typeof createTrustProxy>) => {
        const server = fastify({ trustProxy });
        server.get('/', async (request) => request.ip);
        const found: string[] = [];
        for (const remoteAddress of addresses) {
          const headers = { 'x-forwarded-for': '198.18.0.1' };
          const answer = await server.inject({ url: '/', remoteAddress, headers });
          found.push(`${remoteAddress} ${answer.body}`);
        }
        await server.close();
        return found;
      };
      const trusted = await clientOf(createTrustProxy(setting));
      assert.deepEqual(trusted, await clientOf(setting));
      assert.ok(new Set(trusted.map((line) => line.endsWith('198.18.0.1'))).size === 2, 'some and not all');
    });
  }
});
