import type { Logger } from '#server/platform/process/logger.ts';

interface LoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  readonly logger: Logger;
  /** One round of work. A failure is logged and the next round tries again. */
  readonly run: () => Promise<void>;
}

/**
 * Loop: work that repeats. Rounds never overlap; `notify` requests one now; `stop` awaits the round in progress and
 * promises that none begins afterwards.
 */
export class Loop {
  readonly #options: LoopOptions;
  #round: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #stopped = true;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopped = false;
    this.notify();
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
        this.#timer = setTimeout(() => this.notify(), this.#options.intervalMs);
      }
    });
  }

  async runOnce(): Promise<void> {
    try {
      await this.#options.run();
    } catch (error) {
      this.#options.logger.error(
        { err: error, loop: this.#options.name },
        'a round of a loop failed; the loop retries',
      );
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }
}
