/** Does a part of a purge within a bounded time. @returns true if nothing is left to purge */
export type PurgeStep = () => Promise<boolean>;

/**
 * Runs purge steps in turn, until one runs out of time. The next run begins with the step after that one, so a step
 * that never finishes delays no other.
 */
export class PurgeRotation {
  readonly #steps: readonly PurgeStep[];
  #next = 0;

  constructor(steps: readonly PurgeStep[]) {
    this.#steps = steps;
  }

  /** @returns true if no step has anything left to purge */
  async run(): Promise<boolean> {
    const first = this.#next;
    const ordered = [...this.#steps.slice(first), ...this.#steps.slice(0, first)];
    for (const step of ordered) {
      this.#next = (this.#next + 1) % this.#steps.length;
      if (!(await step())) return false;
    }
    this.#next = 0;
    return true;
  }
}
