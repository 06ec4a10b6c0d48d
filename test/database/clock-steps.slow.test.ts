import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { ClockSync } from '#server/database/clock-sync.ts';
import { initializeClock } from '#server/database/start-clock.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock, createHostClock } from '#server/platform/time/clock.ts';
import { makeClockMovable } from '#test/support/database/movable-database-clock.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { field } from '#test/support/service/api-client.ts';
import {
  clockOf,
  type SteppingService,
  startSteppingService,
  untilStep,
} from '#test/support/service/stepping-service.ts';
import { until } from '#test/support/service/until.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const yearMs = 365 * dayMs;

/** How far the service's time is ahead of the machine's. */
const aheadMs = (clock: Clock) => clock.nowMs() - Date.now();

async function withService(run: (service: SteppingService) => Promise<void>, startsAheadMs = 0) {
  const service = await startSteppingService({}, startsAheadMs);
  try {
    await run(service);
  } finally {
    await service.close();
  }
}

describe('a step of the database clock (specification section 10.7)', () => {
  it('a step of the clock is reported and not followed, and pauses expiry only while the clock is more than 5 minutes ahead (§2.1/timestamps, §10.7/clock-step, §10.7/clock-ahead)', () =>
    withService(async (service) => {
      const team = await service.newTeam();
      // The last step sets the clock right.
      for (const [stepMs, mayExpire] of [
        [minuteMs, true],
        [4 * minuteMs, true],
        [6 * minuteMs, false],
        [-hourMs, true],
        [dayMs, false],
        [-dayMs, true],
        [yearMs, false],
        [-yearMs, true],
        [0, true],
      ] as const) {
        await service.step(stepMs);
        await untilStep(service.baseUrl, stepMs / 1_000);
        assert.ok(Math.abs(aheadMs(service.clock)) < 5_000, `${aheadMs(service.clock)} ms ahead`);
        assert.equal(service.clock.mayExpire, mayExpire, `${stepMs} ms`);
        const webhook = { url: 'https://example.com/hook', events: ['message.sent'] };
        const made = await team.api.post('/v1/webhooks', webhook);
        const createdMs = Date.parse(String(field(made.json, 'created_at')));
        assert.ok(Math.abs(createdMs - Date.now()) < 60_000, String(field(made.json, 'created_at')));
      }
      await service.step(8_000);
      await until('a step of a few seconds is followed at once', () => aheadMs(service.clock) > 7_000);
      assert.deepEqual(await clockOf(service.baseUrl), { settled: true, step_seconds: 0 });
    }));

  it('a step ahead or back is followed once the clock has been steady for 10 minutes, and not before (§10.7/clock-step)', () =>
    withService(async (service) => {
      let followedMs = 0;
      for (const stepMs of [2 * dayMs, -hourMs]) {
        const movedMs = aheadMs(service.clock) - followedMs;
        const isShown = (ms: number) => untilStep(service.baseUrl, (ms - followedMs) / 1_000);
        for (const ms of [stepMs / 2, stepMs]) {
          await service.step(ms);
          await isShown(ms);
          await service.passTime(9 * minuteMs);
          await isShown(ms);
        }
        await service.passTime(minuteMs + 1_000);
        await untilStep(service.baseUrl, 0);
        const jumpedMs = aheadMs(service.clock) - movedMs - 19 * minuteMs;
        assert.ok(Math.abs(jumpedMs - stepMs) < 30_000, `${jumpedMs} ms`);
        followedMs = stepMs;
      }
    }));

  it('all processes follow a step of the clock together (§10.7/one-clock)', () =>
    withService(async (service) => {
      const clock = new Clock();
      const other = await service.startAnother(clock);
      try {
        await service.step(dayMs);
        for (const { baseUrl } of [service, other]) await untilStep(baseUrl, dayMs / 1_000);
        assert.ok(Math.abs(aheadMs(service.clock)) < 5_000 && Math.abs(aheadMs(clock)) < 5_000);
        await service.passTime(10 * minuteMs + 1_000);
        for (const { baseUrl } of [service, other]) await untilStep(baseUrl, 0);
        assert.ok(Math.abs(aheadMs(clock) - dayMs) < 5_000, `${aheadMs(clock)} ms`);
      } finally {
        await other.close();
      }
    }));

  it('a sleep of the machine does not count as a clock step', async (t) => {
    // The test runs without a service, because a service would treat the moved clock as a clock step: the machine did
    // not sleep.
    const { url, close } = await createTestDatabase();
    const databaseClock = await makeClockMovable(url);
    const logger = createLogger('error');
    const [clock, real] = [new Clock(), createHostClock()];
    let sleptMs = 0;
    const host = { ...real, bootId: randomUUID(), uptimeMs: () => real.uptimeMs() + sleptMs };
    const config = readConfig({ SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') });
    const runtime = await openRuntime(config, url, logger);
    const { database } = runtime;
    t.after(async () => {
      await databaseClock.close();
      await database.close();
      await close();
    });
    await initializeClock(database.pool, clock, host);
    const sync = new ClockSync({ ...runtime, clock }, host);
    await sync.run();
    sleptMs = 8 * hourMs;
    await databaseClock.set(sleptMs);
    assert.ok(sync.mayExpire());
    await sync.run();
    assert.deepEqual(sync.status, { settled: true, step_seconds: 0 });
    assert.ok(Math.abs(aheadMs(clock) - sleptMs) < 5_000, `${aheadMs(clock)} ms`);
  });

  it('a process that starts during a clock step takes the step from the database, whatever clock the machine has', () =>
    withService(async (service) => {
      for (const stepMs of [dayMs, -yearMs]) {
        await service.step(stepMs);
        const clock = new Clock();
        clock.follow(Date.UTC(2020), performance.now());
        const other = await service.startAnother(clock);
        try {
          assert.ok(Math.abs(aheadMs(clock)) < 5_000, `${aheadMs(clock)} ms`);
          assert.equal(clock.mayExpire, stepMs < 0);
          await untilStep(other.baseUrl, stepMs / 1_000);
        } finally {
          await other.close();
        }
      }
      await service.step(0);
      await untilStep(service.baseUrl, 0);
      await service.app.lifecycle.close();
      await service.step(dayMs);
      const clock = new Clock();
      const alone = await service.startAnother(clock);
      try {
        await untilStep(alone.baseUrl, dayMs / 1_000);
        assert.ok(Math.abs(aheadMs(clock)) < 5_000, `${aheadMs(clock)} ms`);
        await service.step(0);
        await untilStep(alone.baseUrl, 0);
      } finally {
        await alone.close();
      }
    }));
});
