import type { HandOuts } from './report-hand-outs.ts';

/** The system's monotonic clock in milliseconds, which is the same in all processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Counts each message of a benchmark from its 202 to its phone. */
export class Ledger {
  readonly #acceptedAtMs = new Map<string, number>();
  readonly #handedOutAtMs = new Map<string, number>();
  #twice = 0;

  accept(id: string): void {
    this.#acceptedAtMs.set(id, monotonicMs());
  }

  handOut({ ids, atMs }: HandOuts): void {
    ids.forEach((id, index) => {
      if (this.#handedOutAtMs.has(id)) this.#twice += 1;
      else this.#handedOutAtMs.set(id, atMs[index] ?? Number.NaN);
    });
  }

  get accepted(): number {
    return this.#acceptedAtMs.size;
  }

  get handedOut(): number {
    return this.#handedOutAtMs.size;
  }

  /** @throws Error unless each accepted message was handed out once, and no other message was */
  requireAllOnce(): void {
    const lost = [...this.#acceptedAtMs.keys()].filter((id) => !this.#handedOutAtMs.has(id)).length;
    const unknown = [...this.#handedOutAtMs.keys()].filter((id) => !this.#acceptedAtMs.has(id)).length;
    if (lost + unknown + this.#twice > 0)
      throw new Error(
        `of ${this.accepted} accepted messages ${lost} were lost and ${this.#twice} handed out twice; ${unknown} were never accepted`,
      );
  }

  /**
   * Milliseconds from the 202 to the arrival, of the messages accepted since a time; negative if the 202 came later.
   * @param arrivedAtMs the arrivals by message; by default those at the phones
   */
  latenciesMs(sinceMs: number, arrivedAtMs: ReadonlyMap<string, number> = this.#handedOutAtMs): number[] {
    return this.#since(sinceMs, arrivedAtMs).map(([acceptedMs, arrivedMs]) => arrivedMs - acceptedMs);
  }

  /** For each message accepted since a time, the milliseconds from that time until a phone gets the message. */
  arrivalsMs(sinceMs: number): number[] {
    return this.#since(sinceMs, this.#handedOutAtMs).map(([, handedOutMs]) => handedOutMs - sinceMs);
  }

  #since(sinceMs: number, arrivedAtMs: ReadonlyMap<string, number>): (readonly [number, number])[] {
    return [...this.#acceptedAtMs]
      .filter(([, atMs]) => atMs >= sinceMs)
      .map(([id, atMs]) => [atMs, arrivedAtMs.get(id) ?? Number.NaN]);
  }
}
