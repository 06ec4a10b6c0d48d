import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { countText } from '#server/platform/text.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { startTestService, type TestTeam } from '#test/support/service/test-service.ts';

const get = (api: ApiClient) => api.get('/v1/team');

describe('the rate limiter of a team’s keys (specification sections 7.2 and 8)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });

  /** Moves the clock 20 ms into the next minute, which is more than a correction of the clock. */
  const nextMinute = () => service.clock.advance(60_020 - (service.clock.nowMs() % 60_000));
  const statuses = async (count: number, ...apis: ApiClient[]) => {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => get(apis[index % apis.length] as ApiClient)),
    );
    return {
      ok: answers.filter((answer) => answer.status === 200).length,
      refused: answers.filter((answer) => answer.status === 429),
    };
  };
  const used = async (team: TestTeam, count: number) => {
    const { refused } = await statuses(count, team.api);
    assert.equal(refused.length, 0);
  };

  it('a team may use its plan’s exact number of requests, also in a burst, and answers show how many are left (§7.2/rate-limit-headers, §8/plan-requests)', async () => {
    for (const plan of ['free', 'starter', 'pro'] as const) {
      nextMinute();
      const team = await service.newTeam({ plan });
      const limit = plans[plan].requestsPerMinute;
      const first = await get(team.api);
      assert.equal(first.headers.get('ratelimit-policy'), `"team";q=${limit};w=60`);
      assert.match(first.headers.get('ratelimit') ?? '', new RegExp(`^"team";r=${limit - 1};t=60$`));
      const { ok, refused } = await statuses(limit + 50, team.api);
      assert.equal(ok, limit - 1);
      assert.equal(refused.length, 51);
      assert.match(refused[0]?.headers.get('ratelimit') ?? '', /^"team";r=0;t=\d+$/);
    }
  });

  it('every answer to a valid key shows how many requests are left, refusals too, and no other answer does (§7.2/rate-limit-headers)', async () => {
    nextMinute();
    const team = await service.newTeam({ plan: 'starter' });
    const narrow = await service.newKey(team.id, ['numbers:read']);
    const counted = [
      await get(team.api),
      await get(narrow),
      await team.api.post('/v1/messages/send', { nothing: 1 }),
      await team.api.get('/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41'),
    ];
    const uncounted = [
      await get(new ApiClient(service.baseUrl, 'own_live_wrong')),
      await team.api.get('/v1/nothing'),
      await team.api.post('/v1/numbers', {}),
      await team.api.get('/v1/messages/%'),
    ];
    assertEach(
      counted,
      ({ status, headers }) => [status, headers.has('ratelimit'), headers.has('ratelimit-policy')],
      [200, 403, 400, 404].map((status) => [status, true, true]),
    );
    assertEach(
      uncounted,
      ({ status, headers }) => [status, headers.has('ratelimit'), headers.has('ratelimit-policy')],
      [401, 404, 405, 400].map((status) => [status, false, false]),
    );
  });

  it('a process learns of other processes’ requests when it reserves its next hundredth of the team’s limit (§7.2/rate-limit-headers)', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    nextMinute();
    const team = await service.newTeam({ plan: 'pro' });
    const { requestsPerMinute } = plans.pro;
    const share = requestsPerMinute / 100;
    const left = async (api: ApiClient) =>
      Number(/r=(\d+)/.exec((await get(api)).headers.get('ratelimit') ?? '')?.[1]);
    assert.equal(await left(team.api), requestsPerMinute - 1);
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    for (let n = 1; n <= 5 * share; n += 1) {
      assert.equal(await left(elsewhere), requestsPerMinute - share - n);
    }
    for (let n = 2; n <= share; n += 1) assert.equal(await left(team.api), requestsPerMinute - n);
    assert.equal(await left(team.api), requestsPerMinute - 6 * share - 1);
  });

  it('a 429 names the seconds after which a request is accepted, at any moment of the minute (§7.2/rate-limit-headers)', async () => {
    const moments = [0, 500, 999, 1_000, 29_500, 58_500, 58_999, 59_500];
    const tried: number[] = [];
    for (const atMs of moments) {
      nextMinute();
      const minute = Math.floor(service.clock.nowMs() / 60_000);
      const team = await service.newTeam({ plan: 'free' });
      await used(team, 60);
      service.clock.advance(atMs);
      const secondsLeft = () => 60 - Math.floor((service.clock.nowMs() / 1_000) % 60);
      const before = secondsLeft();
      const refused = await get(team.api);
      // On a slow machine the minute may have ended by now.
      if (refused.status === 200 && service.clock.nowMs() / 60_000 >= minute + 1) continue;
      tried.push(atMs);
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(seconds <= before, `${seconds}: no longer than until the minute ends`);
      assert.equal(refused.status, 429);
      assert.equal(field(refused.json, 'error.code'), 'rate_limited');
      assert.equal(
        field(refused.json, 'error.message'),
        `Too many requests. Retry in ${countText(seconds, 'second')}.`,
      );
      service.clock.advance(seconds * 1_000);
      assert.equal((await get(team.api)).status, 200);
    }
    const early = moments.filter((atMs) => atMs < 30_000);
    assert.deepEqual(tried.slice(0, early.length), early, 'only the end of a minute may slip by');
    assert.ok(tried.length > early.length, 'of the last seconds one at least was met');
  });

  it('two processes together keep the limit, and leave at most two percent of it unused (§7.2/rate-limit-headers)', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    for (const plan of ['free', 'starter', 'pro'] as const) {
      nextMinute();
      const team = await service.newTeam({ plan });
      const limit = plans[plan].requestsPerMinute;
      const processes = [team.api, new ApiClient(second.baseUrl, team.api.key)];
      const { ok } = await statuses(limit, ...processes);
      assert.ok(ok >= limit * 0.98, `${plan}: ${ok} of ${limit}`);
      const more = await statuses(limit, ...processes);
      assert.ok(ok + more.ok <= limit, `${plan}: ${ok} and ${more.ok} of ${limit}`);
    }
  });

  it('keys of one team are counted together, and teams separately (§8/plan-requests)', async () => {
    nextMinute();
    const team = await service.newTeam({ plan: 'free' });
    const other = await service.newTeam({ plan: 'free' });
    const keys = [team.api, await service.newKey(team.id, ['team:read'])];
    assert.equal((await statuses(80, ...keys)).ok, 60);
    assert.equal((await get(other.api)).status, 200);
  });

  it('the rate limit is checked after the key, and before the permission and the body (§7.2/check-order)', async () => {
    nextMinute();
    const team = await service.newTeam({ plan: 'free' });
    const narrow = await service.newKey(team.id, ['numbers:read']);
    await used(team, 60);
    assert.equal((await new ApiClient(service.baseUrl, 'own_live_wrong').get('/v1/team')).status, 401);
    assert.equal((await get(narrow)).status, 429, 'not 403');
    assert.equal((await team.api.post('/v1/messages/send', { nothing: 1 })).status, 429, 'not 400');
  });

  it('a change of plan changes the rate limit within a second', async () => {
    nextMinute();
    const team = await service.newTeam({ plan: 'free' });
    assert.equal((await statuses(61, team.api)).ok, 60);
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'starter',
      monthlyMessageLimit: 1_000,
    });
    service.clock.advance(1_000);
    assert.equal((await get(team.api)).status, 200);
  });

  it('requests of phones do not count against the team’s rate limit, as phones have a limit of their own', async () => {
    nextMinute();
    const team = await service.newTeam({ plan: 'free' });
    await used(team, 60);
    const response = await fetch(`${service.baseUrl}/v1/device/poll`, { method: 'POST', body: '{}' });
    assert.equal(response.status, 200);
  });
});

it('RATE_LIMITS=off removes the limit and its headers', async (t) => {
  const service = await startTestService();
  t.after(() => service.close());
  const team = await service.newTeam({ plan: 'free' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => get(team.api)));
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('ratelimit'), null);
  }
});
