import { Counter } from 'prom-client';
import { gauges } from '#server/platform/process/metrics.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { createHostClock, type HostClock } from '#server/platform/time/clock.ts';
import {
  type ClockSample,
  type ClockState,
  followClockStep,
  sampleDatabaseClock,
  saveBootClockReading,
  writeStep,
} from './clock-store.ts';
import {
  bootClockReadingIntervalMs,
  clockSettleMs,
  clockStepMinMs,
  expiryClockAheadMaxMs,
} from './limits.ts';
import type { Runtime } from './runtime.ts';

/** Upper bound on reads of the clock in one round, if other processes change its state meanwhile. */
const readsMax = 3;

const advice = `Until then nothing expires and nothing is deleted. Set the clock right; if it is right now, run \`${commandLine} clock confirm\`.`;

/** The clock's state, as operators see it. */
export interface ClockStatus {
  /** True while the database's clock is trusted. */
  readonly settled: boolean;
  /** How far the database's clock is ahead of the service's time; negative if it is behind. */
  readonly step_seconds: number;
}

/**
 * Compares the service's time with the database's clock (specification section 10.7, decision 0020). Small differences
 * are corrected. A clock step is logged, and all processes keep the service's own time. The time follows the step once
 * the clock was steady for 10 minutes, or an operator confirms the step. Until then nothing expires after a step ahead.
 */
export class ClockSync {
  readonly #services: Runtime;
  readonly #host: HostClock;
  readonly #onJump: (() => void)[] = [];
  readonly #steps: Counter;
  /** The clock's state when this process last read it. */
  #known: ClockState | undefined;
  /**
   * A doubt about the clock that arose at the start of this process, with the version of the clock's state at that
   * moment.
   */
  #doubt: { readonly sinceMs: number; readonly version: number } | undefined;
  #aligned: { readonly uptimeMs: number; readonly performanceMs: number };
  #readAtMs = Number.NEGATIVE_INFINITY;
  readonly #watchesSinceMs: number;

  constructor(services: Runtime, host: HostClock = createHostClock()) {
    this.#services = services;
    this.#host = host;
    this.#aligned = this.#readUptime();
    this.#watchesSinceMs = services.clock.elapsedMs();
    const { metrics } = services;
    gauges({ metrics }, () => this.status, {
      ownline_clock_step_seconds: [
        "How far the database's clock is ahead of the service's time, after a step that is not followed yet.",
        (status) => status.step_seconds,
      ],
      ownline_clock_settled: [
        "1 while the database's clock is trusted, 0 while a step of it is not followed or nothing may expire.",
        (status) => Number(status.settled),
      ],
    });
    this.#steps = new Counter({
      name: 'ownline_clock_steps_total',
      help: "Steps of the database's clock that this process saw.",
      registers: [metrics],
    });
  }

  get status(): ClockStatus {
    const heldMs = this.#known?.held_ms ?? 0;
    return {
      settled: heldMs === 0 && this.#services.clock.mayExpire,
      step_seconds: heldMs === 0 ? 0 : -heldMs / 1_000,
    };
  }

  /** Calls `run` after each jump of the service's time, so that timers are checked again. */
  onJump(run: () => void): void {
    this.#onJump.push(run);
  }

  /** True if rows may expire or be deleted now. Every sweep that deletes or expires rows checks this first. */
  mayExpire(): boolean {
    this.#align();
    return this.#services.clock.mayExpire;
  }

  /** Reads the clock once, and corrects or holds the service's time accordingly. Before, it reads the timeline. */
  async run(): Promise<void> {
    await this.#services.database.followTimeline();
    this.#align();
    for (let reads = 0; reads < readsMax; reads += 1) if (await this.#read()) break;
    await this.#note();
  }

  /** Reads the clock. @returns false if the call changed the clock's state, so that the clock has to be read again */
  async #read(): Promise<boolean> {
    const { database, clock } = this.#services;
    const sample = await sampleDatabaseClock(database.pool);
    this.#take(sample);
    const ownMs = clock.atMs(sample.atMs);
    const { held_ms: heldMs, databaseMs, uncertaintyMs } = sample;
    const expectedMs = databaseMs + heldMs;
    if (Math.abs(expectedMs - ownMs) > clockStepMinMs + uncertaintyMs) {
      const apartMs = Math.round(ownMs - databaseMs);
      const step = {
        // 0: the clock stepped back to the service's time.
        heldMs: Math.abs(apartMs) <= clockStepMinMs ? 0 : apartMs,
        at: clock.now(),
        version: sample.version,
      };
      await writeStep(database.pool, step);
      return false;
    }
    if (this.#steadyMs(sample) >= clockSettleMs) {
      await followClockStep(this.#services, sample.version);
      return false;
    }
    // Differences within the reading's own error are not corrected.
    if (Math.abs(expectedMs - ownMs) > uncertaintyMs) clock.follow(expectedMs, sample.atMs);
    return true;
  }

  /** How long the clock was steady since a step, as far as this process has seen it; 0 without a step. */
  #steadyMs({ stepped_at: steppedAt }: ClockSample): number {
    const { clock } = this.#services;
    if (steppedAt === null) return 0;
    return Math.min(clock.nowMs() - steppedAt.getTime(), clock.elapsedMs() - this.#watchesSinceMs);
  }

  /** Applies the clock's state that this or another process wrote. */
  #take(sample: ClockSample): void {
    const { clock } = this.#services;
    const known = this.#known;
    this.#known = sample;
    const jumpMs = sample.followed_ms - clock.followedMs;
    if (jumpMs !== 0) clock.jump(jumpMs);
    if (known === undefined) this.#doubtFromStart(sample);
    const followedMs = sample.followed_ms - (known?.followed_ms ?? sample.followed_ms);
    if (followedMs !== 0) this.#logFollowed(followedMs);
    if (sample.held_ms !== 0 || followedMs === 0) this.#logStep(sample, known?.held_ms ?? 0);
    this.#decideExpiry(sample);
    if (jumpMs !== 0) for (const run of this.#onJump) run();
  }

  #doubtFromStart(sample: ClockSample): void {
    const { clock, logger } = this.#services;
    if (clock.mayExpire || shouldSuspendExpiry(sample.held_ms)) return;
    this.#doubt = { sinceMs: clock.elapsedMs(), version: sample.version };
    const aheadSeconds = Math.round((clock.nowMs() - clock.expiryNow().getTime()) / 1_000);
    logger.warn(
      { aheadSeconds, database: new Date(sample.databaseMs), host: new Date(this.#host.wallMs()) },
      `the database's clock is far ahead of this machine's: the service follows it once it has not been set for ${clockSettleMs / 60_000} minutes. ${advice}`,
    );
  }

  #decideExpiry(sample: ClockSample): void {
    const { clock } = this.#services;
    const doubt = this.#doubt;
    if (doubt && (sample.version !== doubt.version || clock.elapsedMs() - doubt.sinceMs >= clockSettleMs))
      this.#doubt = undefined;
    if (shouldSuspendExpiry(sample.held_ms)) clock.suspendExpiry();
    else if (!this.#doubt) clock.allowExpiry();
  }

  #logStep(sample: ClockSample, beforeMs: number): void {
    const { held_ms: heldMs, databaseMs, atMs } = sample;
    if (heldMs === beforeMs) return;
    this.#steps.inc();
    const { clock, logger } = this.#services;
    const line = {
      stepSeconds: Math.round((beforeMs - heldMs) / 1_000),
      aheadSeconds: Math.round(-heldMs / 1_000),
      database: new Date(databaseMs),
      service: new Date(clock.atMs(atMs)),
    };
    if (heldMs === 0) logger.warn(line, "the database's clock was corrected: the service follows it");
    else
      logger.warn(
        line,
        `the database's clock was set: the service keeps its own time until that clock has not been set for ${clockSettleMs / 60_000} minutes. ${shouldSuspendExpiry(heldMs) ? advice : ''}`.trim(),
      );
  }

  #logFollowed(byMs: number): void {
    this.#services.logger.warn(
      { bySeconds: Math.round(byMs / 1_000), service: this.#services.clock.now() },
      "the service's time follows the step of the database's clock",
    );
  }

  /** Corrects the time by the machine's uptime after the machine slept or its monotonic clock was set. */
  #align(): void {
    if (this.#host.bootId === undefined) return;
    const read = this.#readUptime();
    const missedMs =
      read.uptimeMs - this.#aligned.uptimeMs - (read.performanceMs - this.#aligned.performanceMs);
    this.#aligned = read;
    if (Math.abs(missedMs) <= clockStepMinMs) return;
    this.#services.clock.jump(missedMs, 0);
    this.#services.logger.warn(
      { missedSeconds: Math.round(missedMs / 1_000) },
      'this machine was asleep, or its monotonic clock was moved: the time is corrected by its uptime',
    );
  }

  #readUptime() {
    return { uptimeMs: this.#host.uptimeMs(), performanceMs: performance.now() };
  }

  /** Stores the time beside the machine's uptime, for the next process on this machine. */
  async #note(): Promise<void> {
    const { database, clock } = this.#services;
    const { bootId } = this.#host;
    if (bootId === undefined || clock.elapsedMs() - this.#readAtMs < bootClockReadingIntervalMs) return;
    await saveBootClockReading(database.pool, {
      boot_id: bootId,
      uptime_ms: Math.round(this.#host.uptimeMs()),
      monotonic_ms: Math.round(this.#host.monotonicMs()),
      service_at: new Date(clock.atMs(performance.now())),
      followed_ms: clock.followedMs,
    });
    this.#readAtMs = clock.elapsedMs();
  }
}

/** True if the database's clock is so far ahead that nothing may expire until the step is resolved. */
export function shouldSuspendExpiry(heldMs: number): boolean {
  return heldMs < -expiryClockAheadMaxMs;
}
