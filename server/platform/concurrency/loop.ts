import type { Logger } from '#server/platform/process/logger.ts';

interface LoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  /** Upper bound on the share of time that rounds take, unless they are requested: after a long round the loop rests. */
  readonly shareMax?: number | undefined;
  readonly logger: Logger;
  /**
   * Runs one round of work. After a round that returns `again` the next one begins at once. A failure is logged, and the
   * next round tries again.
   */
  readonly run: () => Promise<unknown>;
}

/** Health of a loop in this process; times are readings of `performance.now()`. */
interface LoopHealth {
  /** The start of the loop; undefined before the start. */
  readonly startedAtMs?: number | undefined;
  /** The start of the latest round, and the duration of the latest round that has ended. */
  readonly lastRunAtMs?: number | undefined;
  readonly lastDurationMs?: number | undefined;
  readonly lastSuccessAtMs?: number | undefined;
  /** Number of failed rounds since the process began. */
  readonly failures: number;
  /** The first line of the latest round's error, at most 200 characters; undefined after a success. */
  readonly lastError?: string | undefined;
}

function firstLineOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return (text.split('\n', 1)[0] ?? '').slice(0, 200) || 'an error without a text';
}

/**
 * Loop: work that repeats. Rounds never overlap, and `notify` requests a round now. `stop` awaits the round in
 * progress; no round begins afterwards.
 */
export class Loop {
  readonly #options: LoopOptions;
  #health: LoopHealth = { failures: 0 };
  #round: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = true;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get intervalMs(): number {
    return this.#options.intervalMs;
  }

  get health(): LoopHealth {
    return this.#health;
  }

  /** The loops whose health is reported, as `Runner` requires: only this loop. */
  get loops(): readonly Loop[] {
    return [this];
  }

  /** @returns once the first round has ended */
  async start(): Promise<void> {
    this.#stopped = false;
    this.#health = { ...this.#health, startedAtMs: performance.now() };
    this.notify();
    await this.#round;
  }

  notify(): void {
    if (this.#stopped) return;
    if (this.#round) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#round = this.runOnce().finally(() => {
      this.#round = undefined;
      if (this.#stopped) return;
      if (this.#again) {
        this.#again = false;
        this.notify();
      } else {
        const { intervalMs, shareMax = 1 } = this.#options;
        const restMs = (this.#health.lastDurationMs ?? 0) * (1 / shareMax - 1);
        this.#timer = setTimeout(() => this.notify(), Math.max(intervalMs, restMs));
      }
    });
  }

  async runOnce(): Promise<void> {
    const startedAtMs = performance.now();
    this.#health = { ...this.#health, lastRunAtMs: startedAtMs };
    try {
      if ((await this.#options.run()) === 'again') this.#again = true;
      this.#health = { ...this.#health, lastSuccessAtMs: performance.now(), lastError: undefined };
    } catch (error) {
      this.#health = { ...this.#health, failures: this.#health.failures + 1, lastError: firstLineOf(error) };
      this.#options.logger.error(
        { err: error, loop: this.#options.name },
        'a round of a background job failed; the server retries',
      );
    } finally {
      this.#health = { ...this.#health, lastDurationMs: performance.now() - startedAtMs };
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }
}

/**
 * States of a background job. `starting`: its first round has not ended. `failing`: its latest round failed. `late`: it
 * had no success for three intervals plus five minutes, for example because a round hangs.
 */
export const jobStates = ['starting', 'ok', 'failing', 'late'] as const;
export type JobState = (typeof jobStates)[number];

const intervalsMax = 3;
const slackMs = 300_000;

/** @param nowMs a reading of `performance.now()`, like the times in `health` */
export function jobState(health: LoopHealth, intervalMs: number, nowMs: number): JobState {
  const { startedAtMs, lastSuccessAtMs, lastError } = health;
  const sinceMs = lastSuccessAtMs ?? startedAtMs;
  if (sinceMs === undefined) return 'starting';
  if (nowMs - sinceMs > intervalsMax * intervalMs + slackMs) return 'late';
  if (lastError !== undefined) return 'failing';
  return lastSuccessAtMs === undefined ? 'starting' : 'ok';
}
