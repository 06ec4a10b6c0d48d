/** A part of a purge, for a bounded time. @returns whether nothing is left for it */
export type PurgeStep = () => Promise<boolean>;

/**
 * Runs steps one after the other until one has something left, and begins after that one the next time. So a step that
 * never comes to its end delays no other.
 */
export class PurgeRotation {
  readonly #steps: readonly PurgeStep[];
  #next = 0;

  constructor(steps: readonly PurgeStep[]) {
    this.#steps = steps;
  }

  /** @returns whether nothing is left for any step */
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
