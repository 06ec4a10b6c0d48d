import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { teamRequestsRunningMax } from '#server/usage/team-limiter.ts';
import { countBlocked, untilBlocked } from '#test/support/database/blocked-statements.ts';
import {
  type MovableDatabaseClock,
  makeClockMovable,
} from '#test/support/database/movable-database-clock.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { type ConnectedNumber, connectNumber, type FlatAnswer } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { putSpentMinute } from '#test/support/usage/given-usage.ts';

const phones = 6;
const textsEach = 10;
const metricsToken = 'a-token-for-metrics';

describe('many phones of one team', () => {
  const service = givenService({ METRICS_TOKEN: metricsToken });
  const busy = given(() => service.newTeam());
  const victim = given(() => service.newTeam());
  const numbers: ConnectedNumber[] = [];

  before(async () => {
    while (numbers.length < phones) numbers.push(await connectNumber(service, busy));
  });

  /** Checks that another team's requests are served; they use the same connections as phones. */
  async function assertUndisturbed(): Promise<void> {
    for (const [method, path, body] of [
      ['GET', '/v1/numbers', undefined],
      ['PUT', '/v1/team', { name: 'Undisturbed' }],
    ] as const) {
      const answer = await victim.api.request(method, path, { body });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    }
  }

  it('many simultaneous inbound messages of one team are all stored, within the number of connections that its requests may use', async () => {
    const lock = await holdRowLock(service, { teamId: busy.id });
    const answers: FlatAnswer[] = [];
    let all: Promise<unknown>;
    try {
      all = Promise.all(
        numbers.flatMap(({ wire }) =>
          Array.from({ length: textsEach }, async (_, n) =>
            answers.push(await wire.call('inbound', { from: '+12125550100', text: `Text ${n}` })),
          ),
        ),
      );
      await untilBlocked(service, 'events.', teamRequestsRunningMax);
      await assertUndisturbed();
      assert.equal(await countBlocked(service, 'events.'), teamRequestsRunningMax);
    } finally {
      await lock.release();
    }
    await all;
    const refused = answers.filter(({ ok }) => ok !== '1');
    assert.deepEqual(refused, []);
    assert.equal(answers.length, phones * textsEach);
  });

  it('held polls use no permit of their team: requests and inbound messages are served', async () => {
    const held = numbers.map(({ wire }) => wire.poll());
    await until('all are held', async () => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const metrics = await (await fetch(`${service.baseUrl}/metrics`, { headers })).text();
      return metrics.includes(`ownline_polls_held ${phones}\n`);
    });
    await assertUndisturbed();
    assert.equal((await busy.api.get('/v1/numbers')).status, 200);
    const [first] = numbers;
    const text = await first?.wire.call('inbound', { from: '+12125550100', text: 'while polls are held' });
    assert.equal(text?.ok, '1');
    service.clock.advance(60_000);
    for (const answer of await Promise.all(held)) assert.equal(answer.action, 'idle');
  });
});

const dayMs = 86_400_000;

it('a team’s rate limit ends within a minute after a database clock that was a day ahead is set right (§7.2/rate-limit-headers)', async (t) => {
  let databaseClock: MovableDatabaseClock | undefined;
  const service = await startTestService({ RATE_LIMITS: 'on' }, {}, async (url) => {
    databaseClock = await makeClockMovable(url);
    await databaseClock.set(dayMs);
  });
  t.after(() => databaseClock?.close());
  t.after(() => service.close());
  const team = await service.newTeam({ plan: 'free' });
  service.clock.advance(60_000 - (service.clock.nowMs() % 60_000));
  const statuses: number[] = [];
  for (let n = 0; n <= plans.free.requestsPerMinute; n += 1)
    statuses.push((await team.api.get('/v1/team')).status);
  assert.equal(statuses.at(-1), 429, 'the limit is used up while the clock is ahead');
  await databaseClock?.set(0);
  const clock = new Clock();
  const restarted = await service.startAnother(clock);
  try {
    // The first process used up the limit in its next minute: this clock moves past that minute.
    clock.advance(120_000);
    assert.equal((await new ApiClient(restarted.baseUrl, team.api.key).get('/v1/team')).status, 200);
  } finally {
    await restarted.close();
  }
  service.clock.advance(60_000);
  assert.equal((await team.api.get('/v1/team')).status, 200);
});

it('a stored minute that is too far ahead to be a difference of clocks limits no team (§7.2/rate-limit-headers)', async (t) => {
  const service = await startTestService({ RATE_LIMITS: 'on' });
  t.after(() => service.close());
  for (const aheadMinutes of [2, 60, 1_440, 525_600]) {
    const team = await service.newTeam({ plan: 'free' });
    nextMinute(service.clock);
    await putSpentMinute(service, team.id, aheadMinutes);
    assert.equal((await team.api.get('/v1/team')).status, 200, `${aheadMinutes} minutes ahead`);
  }
});
