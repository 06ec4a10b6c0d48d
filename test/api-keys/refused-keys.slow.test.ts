import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newApiKey } from '#server/api-keys/api-key.ts';
import { countText } from '#server/platform/count-text.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

const perMinute = 60;

describe('the limit of refused API keys per client network (specification section 7.2)', () => {
  let service: TestService;
  let team: TestTeam;

  /** Moves the clock to a new minute, so that the limits of earlier tests do not count. */
  const beginMinute = (secondsLeft?: number) => nextMinute(service.clock, secondsLeft);
  const start = async (settings: Readonly<Record<string, string>> = {}) => {
    service = await startTestService({ RATE_LIMITS: 'on', ...settings });
    team = await service.newTeam();
    beginMinute();
  };

  /** Sends a request with a key that is refused: by default a well-formed unknown one. */
  const tryKey = (key = newApiKey('a1b2'), forwardedFor?: string): Promise<ApiAnswer> =>
    new ApiClient(service.baseUrl, key).request('GET', '/v1/team', {
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    });

  async function statusesOf(tries: readonly (() => Promise<ApiAnswer>)[]): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    for (const { status } of await Promise.all(tries.map((attempt) => attempt()))) {
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }
  const times = (n: number, attempt: (n: number) => Promise<ApiAnswer>) =>
    statusesOf(Array.from({ length: n }, (_, index) => () => attempt(index)));

  describe('a service without a proxy', () => {
    before(() => start());
    after(() => service.close());

    it(`refused keys get 401 ${perMinute} times a minute and then 429, whatever is wrong with the keys (§7.2/refused-keys, §8/refused-credentials)`, async () => {
      const wrong = [
        '',
        'x',
        newApiKey('a1b2'),
        `${team.api.key}0`,
        team.api.key.replace('own_live_', 'own_test_'),
      ];
      assert.deepEqual(await times(perMinute, (n) => tryKey(wrong[n % wrong.length])), { 401: perMinute });
      for (const key of wrong) {
        const answer = await tryKey(key);
        assert.equal(answer.status, 429, answer.text);
        assert.equal(field(answer.json, 'error.code'), 'rate_limited');
      }
    });

    it('valid keys from a limited address are still served (§7.2/refused-keys, §8/refused-credentials)', async () => {
      assert.equal((await tryKey()).status, 429);
      assert.deepEqual(await times(perMinute * 2, () => team.api.get('/v1/team')), { 200: perMinute * 2 });
    });

    it('a 429 has retry-after, and after that time a key is checked again (§7.1/status-429)', async () => {
      beginMinute(17);
      assert.deepEqual(await times(perMinute + 1, () => tryKey()), { 401: perMinute, 429: 1 });
      const refused = await tryKey();
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 17, `retry-after: ${seconds}`);
      assert.equal(
        field(refused.json, 'error.message'),
        `Too many requests. Retry in ${countText(seconds, 'second')}.`,
      );
      service.clock.advance(seconds * 1_000);
      assert.equal((await tryKey()).status, 401);
    });

    it('a valid key that the process sees for the first time is served despite many wrong keys from its address (§7.2/refused-keys)', async () => {
      beginMinute();
      assert.deepEqual(await times(400, () => tryKey()), { 401: perMinute, 429: 400 - perMinute });
      const unseen = await service.newKey(team.id, ['*']);
      assert.equal((await unseen.get('/v1/team')).status, 200);
    });

    it('right after a start every valid key is served despite many wrong keys from its address (§7.2/refused-keys)', async () => {
      beginMinute();
      const fresh = await service.startAnother();
      try {
        const wrong = () => new ApiClient(fresh.baseUrl, newApiKey('a1b2')).get('/v1/team');
        const good = () => new ApiClient(fresh.baseUrl, team.api.key).get('/v1/team');
        await times(200, wrong);
        const mixed = Array.from({ length: 400 }, (_, n) => (n % 100 === 99 ? good : wrong));
        assert.deepEqual(await statusesOf(mixed), { 200: 4, 429: 396 });
      } finally {
        await fresh.close();
      }
    });

    it('unknown keys share look-ups, a recently refused key needs none, and a valid key needs one a second (§7.2/refused-keys)', async () => {
      beginMinute();
      await times(perMinute, () => tryKey());
      assert.equal((await team.api.get('/v1/team')).status, 200);
      const watch = watchStatements(['api-keys.find-live']);
      try {
        assert.deepEqual(await times(400, () => tryKey()), { 429: 400 });
        const shared = watch.take().length;
        assert.ok(shared > 0 && shared < 200, `${shared} statements for 400 keys`);
        const wrong = newApiKey('a1b2');
        assert.deepEqual(await times(10, () => tryKey(wrong)), { 429: 10 });
        assert.equal(watch.take().length, 1);
        assert.deepEqual(await times(10, () => team.api.get('/v1/team')), { 200: 10 });
        // Drops the look-ups so far: on a slow machine a second may have passed, and the key was looked up again.
        watch.take();
        service.clock.advance(1_000);
        assert.deepEqual(await times(10, () => team.api.get('/v1/team')), { 200: 10 });
        assert.equal(watch.take().length, 1);
      } finally {
        watch.stop();
      }
    });

    it('requests with valid keys do not count against the limit of refused keys', async () => {
      beginMinute();
      await times(perMinute, () => team.api.get('/v1/team'));
      assert.deepEqual(await times(perMinute, () => tryKey()), { 401: perMinute });
    });

    it('X-Forwarded-For is ignored without a proxy (§7.2/refused-keys)', async () => {
      beginMinute();
      const counts = await times(perMinute + 10, (n) => tryKey(newApiKey('a1b2'), `198.51.100.${n}`));
      assert.deepEqual(counts, { 401: perMinute, 429: 10 });
    });
  });

  describe('a service behind a proxy that TRUST_PROXY names (§7.2/refused-keys)', () => {
    before(() => start({ TRUST_PROXY: '127.0.0.1' }));
    after(() => service.close());

    it('refused keys count for each address that the proxy names (§8/refused-credentials)', async () => {
      assert.deepEqual(await times(perMinute + 5, () => tryKey(newApiKey('a1b2'), '203.0.113.1')), {
        401: perMinute,
        429: 5,
      });
      assert.equal((await tryKey(newApiKey('a1b2'), '203.0.113.2')).status, 401);
      assert.equal((await tryKey(newApiKey('a1b2'))).status, 401, 'the proxy itself');
    });

    it('one client network is counted together, whether the proxy adds ports or writes IPv6 differently', async () => {
      const writings = [
        (n: number) => `203.0.113.9:${49_152 + n}`,
        (n: number) => `2001:db8:7:8:${n.toString(16)}::1`,
        (n: number) => `[2001:db8:7:9::${n.toString(16)}]:${49_152 + n}`,
        (n: number) => (n % 2 === 0 ? '::ffff:203.0.113.10' : '203.0.113.10'),
        (n: number) => `something-${n}`,
      ];
      for (const writing of writings) {
        beginMinute();
        const counts = await times(perMinute + 5, (n) => tryKey(newApiKey('a1b2'), writing(n)));
        assert.deepEqual(counts, { 401: perMinute, 429: 5 }, writing(1));
      }
    });

    it('the limit counts the address that the proxy added, and ignores an address that the client sent', async () => {
      beginMinute();
      const counts = await times(perMinute + 5, (n) =>
        tryKey(newApiKey('a1b2'), `198.51.100.${n}, 203.0.113.1`),
      );
      assert.deepEqual(counts, { 401: perMinute, 429: 5 });
    });
  });

  describe('a service behind a proxy that TRUST_PROXY does not name', () => {
    before(() => start({ TRUST_PROXY: '192.0.2.1' }));
    after(() => service.close());

    it('X-Forwarded-For of an untrusted proxy is ignored (§7.2/refused-keys)', async () => {
      const counts = await times(perMinute + 5, (n) =>
        tryKey(newApiKey('a1b2'), `192.0.2.1, 198.51.100.${n}`),
      );
      assert.deepEqual(counts, { 401: perMinute, 429: 5 });
    });
  });
});

it('RATE_LIMITS=off lifts the limit of refused keys (docs/configuration.md)', async () => {
  const service = await startTestService({ RATE_LIMITS: 'off' });
  try {
    const api = new ApiClient(service.baseUrl, 'x');
    for (let n = 0; n < perMinute + 5; n += 1) assert.equal((await api.get('/v1/team')).status, 401);
  } finally {
    await service.close();
  }
});
