import type { Clock } from '#server/platform/time/clock.ts';

interface CoalescerOptions {
  readonly clock: Clock;
  /** Time that the first request waits for further ones. */
  readonly gatherMs: number;
  /** Time from a run to the next. */
  readonly intervalMs: number;
  readonly run: () => void;
}

/**
 * Coalescer: runs work soon after it is requested, and at most once per interval. All requests during an interval lead
 * to a single run.
 */
export class Coalescer {
  readonly #options: CoalescerOptions;
  #ranMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(options: CoalescerOptions) {
    this.#options = options;
  }

  request(): void {
    if (this.#cancel) return;
    const { clock, gatherMs, intervalMs } = this.#options;
    const leftMs = this.#ranMs + intervalMs - clock.elapsedMs();
    this.#cancel = clock.after(Math.max(gatherMs, leftMs), () => this.#run());
  }

  stop(): void {
    this.#cancel?.();
  }

  #run(): void {
    this.#cancel = undefined;
    this.#ranMs = this.#options.clock.elapsedMs();
    this.#options.run();
  }
}
