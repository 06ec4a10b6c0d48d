import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { countText } from '#server/platform/text.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { join, newMember, newPerson, type TeamMember } from '#test/support/people/people.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
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

const ofFree = 5 * plans.free.requestsPerMinute;

describe('the rate limiter of members (specification section 12.3)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });

  /** Sends `count` simultaneous requests per member. @returns the number of requests that were answered 200 */
  const passing = async (count: number, ...members: readonly TeamMember[]) => {
    const answers = await Promise.all(
      members.flatMap((member) => Array.from({ length: count }, () => member.get(member.in('/team')))),
    );
    return answers.filter(({ status }) => status === 200).length;
  };

  it('all members of a team together have five times the limit of its keys, counted apart from them (§12.3/csrf-and-checks)', async () => {
    const team = await service.newTeam({ plan: 'starter' });
    const [ada, alan] = [await newMember(service, team, 'owner'), await newMember(service, team, 'viewer')];
    const other = await join(service, await service.newTeam({ plan: 'free' }), ada, 'owner');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'free',
      monthlyMessageLimit: 100,
    });
    nextMinute(service.clock);
    assert.equal(await passing(ofFree / 2 + 20, ada, alan), ofFree);
    const refused = await alan.get(alan.in('/team'));
    assert.deepEqual([refused.status, field(refused.json, 'error.code')], [429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
    assert.equal(
      field(refused.json, 'error.message'),
      `Too many requests: the members of a team on the plan free have ${ofFree} a minute together. Retry in ${countText(seconds, 'second')}.`,
    );
    assert.equal((await team.api.get('/v1/team')).status, 200, 'its keys go on');
    assert.equal(await passing(1, other), 1, 'another team of the same person');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'starter',
      monthlyMessageLimit: 1_000,
    });
    assert.equal(await passing(1, ada), 1, 'a larger plan from the next request on');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'free',
      monthlyMessageLimit: 100,
    });
    service.clock.advance(seconds * 1_000);
    assert.equal(await passing(1, alan), 1);
  });

  it('a session beyond 600 requests a minute is refused without a look-up, so it cannot use up the pool (§12.3/csrf-and-checks)', async (t) => {
    const person = await newPerson(service);
    nextMinute(service.clock);
    const watch = watchStatements(['account-sessions.find-live']);
    t.after(() => watch.stop());
    const asked = Array.from({ length: 900 }, () => person.get('/app/account/sessions'));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 600);
    assert.equal(statuses.filter((status) => status === 429).length, 300);
    // Simultaneous look-ups of the session share a statement.
    const lookUps = watch.take().length;
    assert.ok(lookUps > 0 && lookUps <= 600, `${lookUps} look-ups`);
    const further = await Promise.all(Array.from({ length: 100 }, () => person.get('/app/account/sessions')));
    assert.ok(further.every(({ status }) => status === 429));
    assert.deepEqual(watch.take(), []);
  });

  it('requests without a membership do not count for the team (§12.3/csrf-and-checks)', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const owner = await newMember(service, team, 'owner');
    const stranger = await newMember(service, await service.newTeam(), 'owner');
    nextMinute(service.clock);
    const asked = Array.from({ length: ofFree + 1 }, () => stranger.get(owner.in('/team')));
    assert.ok((await Promise.all(asked)).every(({ status }) => status === 404));
    assert.equal(await passing(1, owner), 1);
  });

  it('the limit is checked before role and body, and refused requests count', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const viewer = await newMember(service, team, 'viewer');
    nextMinute(service.clock);
    const wrong = Array.from({ length: ofFree }, () => viewer.put(viewer.in('/team'), { name: 'x' }));
    assert.ok((await Promise.all(wrong)).every(({ status }) => status === 403));
    assert.equal((await viewer.put(viewer.in('/team'), { nothing: 1 })).status, 429);
  });
});
