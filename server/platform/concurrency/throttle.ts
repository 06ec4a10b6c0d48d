import type { Clock } from '#server/platform/time/clock.ts';

interface ThrottleOptions {
  readonly clock: Clock;
  /** Time that the first request waits for further ones. */
  readonly gatherMs: number;
  /** Time from the start of a run to the start of the next. */
  readonly intervalMs: number;
  /** The throttled work. It never rejects. */
  readonly run: () => Promise<void>;
}

/**
 * Throttle: runs work soon after it is requested, and at most once per interval. Requests during an interval make one
 * run together, and runs never overlap.
 */
export class Throttle {
  readonly #options: ThrottleOptions;
  #startedMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #state: 'idle' | 'running' | 'running, requested again' | 'stopped' = 'idle';

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  request(): void {
    if (this.#state === 'running') this.#state = 'running, requested again';
    if (this.#state !== 'idle' || this.#cancel) return;
    const { clock, gatherMs, intervalMs } = this.#options;
    const leftMs = this.#startedMs + intervalMs - clock.elapsedMs();
    this.#cancel = clock.after(Math.max(gatherMs, leftMs), () => void this.#run());
  }

  stop(): void {
    this.#state = 'stopped';
    this.#cancel?.();
  }

  async #run(): Promise<void> {
    this.#cancel = undefined;
    this.#state = 'running';
    this.#startedMs = this.#options.clock.elapsedMs();
    await this.#options.run();
    const { wasStopped, wasRequested } = this.#ended();
    if (wasStopped) return;
    this.#state = 'idle';
    if (wasRequested) this.request();
  }

  #ended() {
    return {
      wasStopped: this.#state === 'stopped',
      wasRequested: this.#state === 'running, requested again',
    };
  }
}
