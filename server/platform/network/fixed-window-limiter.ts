import type { Clock } from '#server/platform/time/clock.ts';

/** How many keys are remembered at once: whoever makes keys up must not fill the memory. */
export const keysMax = 10_000;

const minuteMs = 60_000;

/**
 * Counts something per key and minute in this process. It guards the server against the runaway and the curious, not
 * a price, so a count per process is enough. Past `keysMax` the key that was not asked for the longest begins anew:
 * nobody is held back for the number of others, and one that goes on asking is never the one that is forgotten.
 */
export class FixedWindowLimiter {
  readonly #clock: Clock;
  readonly #max: number;
  /** From the time that has elapsed to the minutes of the day. No jump of the clock shortens or lengthens a minute. */
  readonly #phaseMs: number;
  #minute = 0;
  /** The one that was asked for last is the last. */
  #counts = new Map<string, number>();

  /** @param max how often a key is allowed in a minute */
  constructor(clock: Clock, max = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#max = max;
    this.#phaseMs = clock.nowMs() - clock.elapsedMs();
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#counts.size;
  }

  /** Counts one. @param max where it is another one for this key @returns whether it is within the limit */
  allows(key: string, max = this.#max): boolean {
    const count = this.#countOf(key) + 1;
    this.#counts.delete(key);
    if (this.#counts.size >= keysMax) this.#evictOldest();
    this.#counts.set(key, count);
    return count <= max;
  }

  /** Whether the next one would be beyond the limit; counts nothing. */
  isExhausted(key: string): boolean {
    return this.#countOf(key) >= this.#max;
  }

  /** Whole seconds until the minute ends and all counts begin anew: for retry-after. */
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
