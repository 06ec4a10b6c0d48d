import type { Clock } from '#server/platform/time/clock.ts';

/** Maximum number of keys, to bound the memory. */
export const keysMax = 10_000;

const minuteMs = 60_000;

/**
 * Fixed-window limiter: counts per key and minute, in this process only. Past `keysMax` the least recently
 * used key is dropped and begins again at zero. A key in constant use is never dropped, and many keys never
 * make one exceed its limit.
 */
export class FixedWindowLimiter {
  readonly #clock: Clock;
  readonly #max: number;
  /** Offset from elapsed time to the minutes of the day. A jump of the clock does not change a minute's length. */
  readonly #phaseMs: number;
  #minute = 0;
  /** In the order of use: the most recently used key is the last. */
  #counts = new Map<string, number>();

  /** @param max requests of a key per minute */
  constructor(clock: Clock, max = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#max = max;
    this.#phaseMs = clock.nowMs() - clock.elapsedMs();
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#counts.size;
  }

  /** Counts one. @param max another limit for this key @returns whether it is within the limit */
  allows(key: string, max = this.#max): boolean {
    const count = this.#countOf(key) + 1;
    this.#counts.delete(key);
    if (this.#counts.size >= keysMax) this.#evictOldest();
    this.#counts.set(key, count);
    return count <= max;
  }

  /** Whether the next request would exceed the limit; counts nothing. */
  isExhausted(key: string): boolean {
    return this.#countOf(key) >= this.#max;
  }

  /** Whole seconds until the minute ends and all counts restart: for retry-after. */
  get secondsLeft(): number {
    return Math.max(1, Math.ceil((minuteMs - (this.#passedMs % minuteMs)) / 1_000));
  }

  get #passedMs(): number {
    return this.#clock.elapsedMs() + this.#phaseMs;
  }

  #countOf(key: string): number {
    const minute = Math.floor(this.#passedMs / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts = new Map();
    }
    return this.#counts.get(key) ?? 0;
  }

  #evictOldest(): void {
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }
}
