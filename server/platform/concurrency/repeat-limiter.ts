interface RepeatLimiterOptions<Item> {
  /** How many items of one kind pass in a window. */
  readonly max: number;
  readonly windowMs: number;
  /** How many kinds a window counts separately; all further kinds count as one. */
  readonly kindsMax: number;
  /** Called for each kind with repeats, at the end of a window or of the process. */
  readonly summarize: (latest: Item, repeats: number) => void;
}

interface Kind<Item> {
  latest: Item;
  passed: number;
  repeats: number;
}

/** Rate limiter for log lines of equal events: the first ones pass, the others are counted and summarized. */
export class RepeatLimiter<Item> {
  readonly #options: RepeatLimiterOptions<Item>;
  readonly #kinds = new Map<string, Kind<Item>>();

  constructor(options: RepeatLimiterOptions<Item>) {
    this.#options = options;
  }

  /** Counts an event. @returns true if it passes */
  pass(name: string, item: Item): boolean {
    if (this.#kinds.size === 0) this.#begin();
    const key = this.#kinds.has(name) || this.#kinds.size < this.#options.kindsMax ? name : '';
    const kind = this.#kinds.get(key) ?? { latest: item, passed: 0, repeats: 0 };
    this.#kinds.set(key, kind);
    if (kind.passed < this.#options.max) {
      kind.passed += 1;
      return true;
    }
    kind.latest = item;
    kind.repeats += 1;
    return false;
  }

  #begin(): void {
    const end = () => {
      clearTimeout(timer);
      process.off('exit', end);
      const kinds = [...this.#kinds.values()];
      this.#kinds.clear();
      for (const { latest, repeats } of kinds) if (repeats > 0) this.#options.summarize(latest, repeats);
    };
    const timer = setTimeout(end, this.#options.windowMs).unref();
    // This exit listener runs first, because pino flushes its log buffer in a later one.
    process.prependListener('exit', end);
  }
}
