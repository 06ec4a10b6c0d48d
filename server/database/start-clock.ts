import { type Clock, createHostClock, type HostClock } from '#server/platform/time/clock.ts';
import {
  type BootClockReading,
  type ClockSample,
  listBootClockReadings,
  sampleDatabaseClock,
} from './clock-store.ts';
import { shouldSuspendExpiry } from './clock-sync.ts';
import { clockStepMinMs, expiryClockAheadMaxMs } from './limits.ts';
import type { ChangeRecordingPool } from './query.ts';

/**
 * How much less the uptime may have grown than the monotonic clock. A larger difference means that the uptime began
 * anew, as in a restarted container.
 */
const uptimeSlackMs = 1_000;

/** Sets the time of a starting process (decision 0020). It writes nothing, so that commands can use it, too. */
export async function initializeClock(
  pool: ChangeRecordingPool,
  clock: Clock,
  host = createHostClock(),
): Promise<void> {
  const sample = await sampleDatabaseClock(pool);
  const { timeMs, doubtMs } = firstTime(sample, await listBootClockReadings(pool), host);
  clock.start(timeMs, sample.atMs, sample.followed_ms);
  if (doubtMs !== undefined) clock.suspendExpiry(doubtMs);
  else if (shouldSuspendExpiry(timeMs - sample.databaseMs)) clock.suspendExpiry();
  else clock.allowExpiry();
}

/**
 * The time with which a process starts. If a process of the service ran since the machine's boot, the uptime gives the
 * exact time since that process. Otherwise the database's clock is trusted, unless the host's clock differs, which
 * raises a doubt.
 * @returns `doubtMs`: how far the time may be ahead of the true one; undefined without a doubt
 */
function firstTime(sample: ClockSample, readings: readonly BootClockReading[], host: HostClock) {
  const { databaseMs, held_ms: heldMs, followed_ms: followedMs } = sample;
  // The host's clocks are read later than the database's clock, so the time between is subtracted.
  const sinceSampleMs = performance.now() - sample.atMs;
  const lastSeenMs = (reading: BootClockReading) =>
    reading.service_at.getTime() + followedMs - reading.followed_ms;

  const ofThisBoot = readings.find(({ boot_id: id }) => id === host.bootId);
  const passedMs = ofThisBoot && uptimeSince(ofThisBoot, host);
  if (ofThisBoot && passedMs !== undefined) {
    const timeMs = lastSeenMs(ofThisBoot) + passedMs - sinceSampleMs;
    const isSteady = Math.abs(databaseMs + heldMs - timeMs) <= clockStepMinMs + sample.uncertaintyMs;
    return { timeMs: isSteady ? databaseMs + heldMs : timeMs, doubtMs: undefined };
  }

  const latestMs = Math.max(0, ...readings.map(lastSeenMs));
  // A held step may have been undone since the last run, so both times are possible. The service's time never goes
  // back, so times before the last reading are excluded.
  const [timeMs = databaseMs] = [databaseMs, databaseMs + heldMs]
    .filter((ms) => ms >= latestMs - clockStepMinMs)
    .sort((a, b) => a - b);
  const certainMs = Math.max(latestMs, host.wallMs() - sinceSampleMs);
  return { timeMs, doubtMs: timeMs - certainMs > expiryClockAheadMaxMs ? timeMs - certainMs : undefined };
}

/** The time since a reading; undefined unless the same clocks have certainly kept running. */
function uptimeSince(reading: BootClockReading, host: HostClock): number | undefined {
  const uptimeMs = host.uptimeMs() - reading.uptime_ms;
  const monotonicMs = host.monotonicMs() - reading.monotonic_ms;
  return monotonicMs >= 0 && uptimeMs >= monotonicMs - uptimeSlackMs ? uptimeMs : undefined;
}
