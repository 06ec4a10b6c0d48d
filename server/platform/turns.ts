/** Lets so many works run at once; the others wait for their turn, in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Handed on, not given back: whoever comes in between waits behind the others.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
