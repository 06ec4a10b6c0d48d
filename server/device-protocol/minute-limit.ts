import type { Clock } from '#server/platform/clock.ts';

/**
 * Counts calls per token and minute in this process: what a runaway shortcut is held back with (specification section
 * 11.7). It guards the server, not a price, so a count per process is enough.
 */
export class MinuteLimit {
  readonly #clock: Clock;
  readonly #callsMax: number;
  #minute = 0;
  #calls = new Map<string, number>();

  constructor(clock: Clock, callsMax: number) {
    this.#clock = clock;
    this.#callsMax = callsMax;
  }

  /** Counts a call. @returns whether it is within the limit */
  allows(key: string): boolean {
    const minute = Math.floor(this.#clock.nowMs() / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#calls = new Map();
    }
    const calls = (this.#calls.get(key) ?? 0) + 1;
    this.#calls.set(key, calls);
    return calls <= this.#callsMax;
  }
}
