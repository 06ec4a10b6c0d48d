import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newApiKey } from '#server/api-keys/api-keys.ts';
import { type ApiAnswer, ApiClient } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

const perMinute = 60;

/** Look-ups of unknown keys are in test/platform/credential-lookup.test.ts, forms of an address in client-network.test.ts. */
describe('the limit of refused API keys per client network (specification section 7.2)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' });

  const tryKey = (key: string, forwardedFor: string) =>
    new ApiClient(service.baseUrl, key).request('GET', '/v1/team', {
      headers: { 'x-forwarded-for': forwardedFor },
    });

  async function statusesOf(count: number, attempt: (n: number) => Promise<ApiAnswer>) {
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => attempt(n)));
    const counts: Record<number, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  it(`refused keys get 401 ${perMinute} times a minute and then 429, whatever is wrong with the keys (§7.2/refused-keys)`, async () => {
    nextMinute(service.clock, 17);
    const isTest = team.api.key.replace('own_live_', 'own_test_');
    const wrong = ['', 'x', newApiKey('a1b2'), `${team.api.key}0`, isTest];
    const attempt = (n: number) => tryKey(wrong[n % wrong.length] ?? '', '203.0.113.1');
    assert.deepEqual(await statusesOf(perMinute, attempt), { 401: perMinute });
    for (const key of wrong) assert.equal((await tryKey(key, '203.0.113.1')).status, 429, key);
    const seconds = Number((await attempt(0)).headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 17, `retry-after: ${seconds}`);
    service.clock.advance(seconds * 1_000);
    assert.equal((await attempt(0)).status, 401);
  });

  it('valid keys of a client network at its limit are served, also right after a start, and count towards no limit (§7.2/refused-keys)', async () => {
    nextMinute(service.clock);
    const wrong = () => tryKey(newApiKey('a1b2'), '203.0.113.2');
    assert.deepEqual(await statusesOf(400, wrong), { 401: perMinute, 429: 400 - perMinute });
    const unseen = await service.newKey(team.id, ['*']);
    for (const { key } of [unseen, team.api])
      assert.deepEqual(await statusesOf(perMinute, () => tryKey(key, '203.0.113.2')), { 200: perMinute });
  });

  it('a refused key counts for the client address that the trusted proxy added to X-Forwarded-For (§7.2/refused-keys)', async () => {
    nextMinute(service.clock);
    const sent = (n: number) => tryKey(newApiKey('a1b2'), `198.51.100.${n}, 203.0.113.3`);
    assert.deepEqual(await statusesOf(perMinute + 5, sent), { 401: perMinute, 429: 5 });
    const ofOneNetwork = (n: number) =>
      tryKey(newApiKey('a1b2'), `[2001:db8:7:9::${n.toString(16)}]:${n + 1}`);
    assert.deepEqual(await statusesOf(perMinute + 5, ofOneNetwork), { 401: perMinute, 429: 5 });
    assert.equal((await tryKey(newApiKey('a1b2'), '203.0.113.4')).status, 401, 'another network');
  });
});
