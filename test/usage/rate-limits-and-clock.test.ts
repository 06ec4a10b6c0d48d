import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { Clock } from '#server/platform/time/clock.ts';
import {
  type MovableDatabaseClock,
  makeClockMovable,
} from '#test/support/database/movable-database-clock.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { putSpentMinute } from '#test/support/usage/given-usage.ts';

const dayMs = 86_400_000;

it('a team’s rate limit ends within a minute after a database clock that was a day ahead is corrected (§7.2/rate-limit-headers)', async (t) => {
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
    // The first process used up the limit of its next minute, so this clock moves past that minute.
    clock.advance(120_000);
    assert.equal((await new ApiClient(restarted.baseUrl, team.api.key).get('/v1/team')).status, 200);
  } finally {
    await restarted.close();
  }
  service.clock.advance(60_000);
  assert.equal((await team.api.get('/v1/team')).status, 200);
});

it('a stored minute limits no team if it is further ahead than clocks can differ (§7.2/rate-limit-headers)', async (t) => {
  const service = await startTestService({ RATE_LIMITS: 'on' });
  t.after(() => service.close());
  for (const aheadMinutes of [2, 60, 1_440, 525_600]) {
    const team = await service.newTeam({ plan: 'free' });
    nextMinute(service.clock);
    await putSpentMinute(service, team.id, aheadMinutes);
    assert.equal((await team.api.get('/v1/team')).status, 200, `${aheadMinutes} minutes ahead`);
  }
});
