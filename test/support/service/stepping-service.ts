import type { ClockStatus } from '#server/database/clock-sync.ts';
import {
  type MovableDatabaseClock,
  makeClockMovable,
} from '#test/support/database/movable-database-clock.ts';
import { startTestService } from './test-service.ts';
import { until } from './until.ts';

/** A service on a database whose clock a test sets. */
export type SteppingService = Awaited<ReturnType<typeof startSteppingService>>;

/** Starts the service. @param aheadMs how far the database's clock is ahead when the first process starts */
export async function startSteppingService(settings: Readonly<Record<string, string>> = {}, aheadMs = 0) {
  let databaseClock: MovableDatabaseClock | undefined;
  const service = await startTestService(settings, {}, async (url) => {
    databaseClock = await makeClockMovable(url);
    await databaseClock.set(aheadMs);
  });
  const lookNow = async () => void (await service.query("SELECT pg_notify('service_clock', '')"));
  // A process writes a reading if the last one is a minute old.
  const readAt = async () =>
    (await service.query<{ uptime_ms: number }>('SELECT max(uptime_ms) AS uptime_ms FROM clock_readings'))[0]
      ?.uptime_ms;
  return {
    ...service,
    /** Makes all processes read the database's clock now instead of within 10 s. */
    lookNow,
    /** Moves the service's clock by a minute or more, and waits until the service has read the database's clock. */
    passTime: async (ms: number) => {
      const before = await readAt();
      service.clock.advance(ms);
      await lookNow();
      await until('the service has looked', async () => (await readAt()) !== before);
    },
    /** Sets how far the database's clock is ahead of the machine's, and makes all processes read it. */
    step: async (ms: number) => {
      await databaseClock?.set(ms);
      await lookNow();
    },
    close: async () => {
      await databaseClock?.close();
      await service.close();
    },
  };
}

/** State of the clock in /readyz. */
export async function clockOf(baseUrl: string): Promise<ClockStatus> {
  const answer = await fetch(`${baseUrl}/readyz`);
  return ((await answer.json()) as { clock: ClockStatus }).clock;
}

/**
 * Waits until a process finds the database's clock ahead of its own time by `seconds`; 0 waits until the clock is
 * trusted.
 */
export async function untilStep(baseUrl: string, seconds: number): Promise<void> {
  await until(`the clock is ${seconds} s ahead`, async () => {
    const { settled, step_seconds: step } = await clockOf(baseUrl);
    return Math.abs(step - seconds) < 5 && settled === (seconds === 0);
  });
}
