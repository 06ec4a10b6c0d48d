import type { Clock } from './clock.ts';

/**
 * Counts something per key and minute in this process. It guards the server against the runaway and the curious, not
 * a price, so a count per process is enough.
 */
export class MinuteLimit {
  readonly #clock: Clock;
  readonly #max: number;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Counts one. @returns whether it is within the limit */
  allows(key: string): boolean {
    const minute = Math.floor(this.#clock.nowMs() / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= this.#max;
  }
}
