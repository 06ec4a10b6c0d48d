import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { publicRequestsPerMinute, visitorRequestsPerMinute } from '#server/app/authenticators.ts';
import { NetworkRateLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import { countText } from '#server/platform/text.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { httpRequest } from '#test/support/http/http-request.ts';
import { newMember } from '#test/support/people/people.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

describe('the rate limiter of client networks, for requests without a credential (§7.2/anonymous-limit)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' });

  const ask = (
    path: string,
    network: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ) => httpRequest(service.baseUrl + path, { method, headers: { 'x-forwarded-for': network, ...headers } });
  /** Sends as many requests as the limit allows in a minute. None may be refused by it. */
  const sendAll = async (one: (n: number) => ReturnType<typeof httpRequest>) => {
    for (let n = 0; n < publicRequestsPerMinute; n += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => one(n + index)));
      assert.ok(!answers.some(({ status }) => status === 429));
    }
  };
  const useUp = (network: string) => {
    const paths = ['/nothing', '/v1/messages/send', '/sign-in', '/v1/openapi.json', '/v1/nothing'];
    return sendAll((n) => ask(paths[n % paths.length] ?? '/', network, {}, 'HEAD'));
  };

  it('pages, static content and unknown paths share one limit per client network, and its 429 has retry-after', async () => {
    nextMinute(service.clock);
    await useUp('203.0.113.1');
    // The clock is moved until 17 s of the minute are left.
    service.clock.advance(Math.max(0, 43_500 - (service.clock.nowMs() % 60_000)));
    for (const path of ['/nothing', '/sign-in', '/docs', '/v1/openapi.json', '/v1/messages/send']) {
      const refused = await ask(path, '203.0.113.1');
      assert.equal(refused.status, 429, path);
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 17, `retry-after: ${seconds}`);
      assert.match(refused.text, new RegExp(`Too many requests. Retry in ${countText(seconds, 'second')}.`));
    }
    assert.equal((await ask('/sign-in', '203.0.113.2')).status, 200, 'another network');
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await ask(path, '203.0.113.1')).status, 200, path);
    const last = await ask('/sign-in', '203.0.113.1');
    service.clock.advance(Number(last.headers.get('retry-after')) * 1_000);
    assert.equal((await ask('/sign-in', '203.0.113.1')).status, 200, 'after as many seconds as it said');
  });

  it('from a network at its limit, requests with a valid key or session are served, and other requests are refused', async () => {
    nextMinute(service.clock);
    const { cookie } = await newMember(service, team, 'member');
    await useUp('203.0.113.3');
    assert.equal((await ask('/sign-in', '203.0.113.3')).status, 429);
    const key = { 'x-api-key': team.api.key };
    assert.equal((await ask('/v1/nothing', '203.0.113.3', key)).status, 404);
    assert.equal((await ask('/v1/openapi.json', '203.0.113.3', key)).status, 200);
    assert.equal((await ask('/v1/team', '203.0.113.3', key)).status, 200);
    assert.equal((await ask('/', '203.0.113.3', { cookie })).status, 200);
    for (const wrong of [{ 'x-api-key': `${team.api.key}0` }, { cookie: `${cookie}0` }])
      assert.equal((await ask('/', '203.0.113.3', wrong)).status, 429);
  });

  it('forms and operations without a session have a lower limit, which does not apply to valid sessions', async () => {
    nextMinute(service.clock);
    const { cookie } = await newMember(service, team, 'member');
    const headers = { origin: service.baseUrl, 'content-type': 'application/json' };
    const signIn = (more = {}) => ask('/app/sign-in/passkey', '203.0.113.4', { ...headers, ...more }, 'POST');
    for (let n = 0; n < visitorRequestsPerMinute; n += 1) assert.equal((await signIn()).status, 400);
    assert.equal((await signIn()).status, 429);
    // Requests with a session count for its account, up to the same limit. An API key does not identify a caller in
    // these requests.
    for (let n = 0; n < visitorRequestsPerMinute; n += 1)
      assert.equal((await signIn({ cookie })).status, 400);
    assert.equal((await signIn({ cookie })).status, 429);
    assert.equal((await signIn({ 'x-api-key': team.api.key })).status, 429);
    assert.equal((await ask('/sign-in', '203.0.113.4')).status, 200);
  });

  it('RATE_LIMITS=off lifts the limit of client networks (docs/configuration.md)', async (t) => {
    const other = await service.startAnother(undefined, { RATE_LIMITS: 'off' });
    t.after(() => other.close());
    const visit = () => httpRequest(`${other.baseUrl}/nothing`, { method: 'GET' });
    await sendAll(visit);
    assert.equal((await visit()).status, 404);
  });
});

it('from a network at its limit, each team or account may send as many requests as the limit allows (§7.2/anonymous-limit)', async () => {
  const perMinute = 3;
  const services = { clock: new Clock(), config: { rateLimits: true } };
  const limiter = new NetworkRateLimiter(services, perMinute, async ({ headers }) =>
    headers['x-api-key']?.toString(),
  );
  const isServed = async (team?: string, ip = '203.0.113.1') => {
    const request = { ip, headers: team === undefined ? {} : { 'x-api-key': team } } as FastifyRequest;
    try {
      await limiter.take(request);
      return true;
    } catch {
      return false;
    }
  };
  const served = async (...asked: Parameters<typeof isServed>) => {
    let count = 0;
    for (let n = 0; n < 3 * perMinute; n += 1) if (await isServed(...asked)) count += 1;
    return count;
  };
  assert.equal(await served(), perMinute);
  assert.equal(await served('one'), perMinute);
  assert.equal(await served('another'), perMinute);
  assert.equal(await served('one', '203.0.113.2'), perMinute, 'from another network, within its own limit');
});
