import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { spoofedAddress } from '#server/platform/network/trusted-proxies.ts';
import { createBareServer } from '#test/support/http/bare-http-server.ts';

it('a proxy that TRUST_PROXY does not name is logged once with that setting, unless the request came from ownline doctor (specification section 12.2)', async () => {
  for (const [trustProxy, forwarded, lines] of [
    [[], `${spoofedAddress}, 203.0.113.7`, 1],
    [[], spoofedAddress, 0],
    [['loopback'], '203.0.113.7', 0],
  ] as const) {
    const logged: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void logged.push(line) });
    const server = createBareServer([], { trustProxy, logger });
    for (const _ of [1, 2])
      await server.inject({ url: '/healthz', headers: { 'x-forwarded-for': forwarded } });
    await server.close();
    assert.equal(logged.length, lines, forwarded);
    if (lines > 0) assert.match(logged.join(), /TRUST_PROXY does not name.* Set TRUST_PROXY=127\.0\.0\.1\./);
  }
});
