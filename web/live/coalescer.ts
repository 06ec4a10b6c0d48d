/**
 * Coalescer: runs the work at once, and once more at the end of the interval if `run` was called meanwhile. While calls
 * continue the interval doubles, up to a maximum.
 */
export class Coalescer {
  readonly #intervalMs: number;
  readonly #intervalMaxMs: number;
  readonly #work: () => void;
  #nextMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWanted = false;

  constructor([intervalMs, intervalMaxMs]: readonly [number, number], work: () => void) {
    this.#intervalMs = intervalMs;
    this.#intervalMaxMs = intervalMaxMs;
    this.#work = work;
    this.#nextMs = intervalMs;
  }

  run(): void {
    if (this.#timer !== undefined) {
      this.#isWanted = true;
      return;
    }
    this.#work();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isWanted) {
        this.#nextMs = this.#intervalMs;
        return;
      }
      this.#isWanted = false;
      this.#nextMs = Math.min(2 * this.#nextMs, this.#intervalMaxMs);
      this.run();
    }, this.#nextMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
