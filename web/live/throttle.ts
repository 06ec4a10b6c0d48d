/** Rate limiter: runs the work at once, and again at the end of the interval if it was asked for meanwhile. */
export class Throttle {
  readonly #intervalMs: number;
  readonly #work: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWanted = false;

  constructor(intervalMs: number, work: () => void) {
    this.#intervalMs = intervalMs;
    this.#work = work;
  }

  run(): void {
    if (this.#timer !== undefined) {
      this.#isWanted = true;
      return;
    }
    this.#work();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isWanted) return;
      this.#isWanted = false;
      this.run();
    }, this.#intervalMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
