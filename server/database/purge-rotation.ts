import type { PurgeEnd } from './purge-walk.ts';

/** Does a part of a purge within a bounded time. */
export type PurgeStep = () => Promise<PurgeEnd>;

/**
 * Runs purge steps in turn, until one runs out of time. The next run begins with the step after that one, so a step
 * that never finishes or fails delays no other.
 */
export class PurgeRotation {
  readonly #steps: readonly PurgeStep[];
  #next = 0;

  constructor(steps: readonly PurgeStep[]) {
    this.#steps = steps;
  }

  /** @returns the end of the first step that was not done, else `done` */
  async run(): Promise<PurgeEnd> {
    const first = this.#next;
    const ordered = [...this.#steps.slice(first), ...this.#steps.slice(0, first)];
    for (const step of ordered) {
      this.#next = (this.#next + 1) % this.#steps.length;
      const end = await step();
      if (end !== 'done') return end;
    }
    this.#next = 0;
    return 'done';
  }
}
