/**
 * Fair queue: a FIFO queue per key, taken round robin, so that a key with a long queue delays no other key. All keys
 * share one bound. Once the bound is reached, only keys that have at least their equal share of it are refused.
 */
export class FairQueue<Item> {
  readonly #sizeMax: number;
  /** Only keys with waiting items, in the order in which they are served next. */
  readonly #queues = new Map<unknown, Item[]>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an item to the queue of its key. @returns false if the item was refused */
  push(key: unknown, item: Item): boolean {
    const queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, [item]);
    else if (this.#size < this.#sizeMax || queue.length < this.#sizeMax / this.#queues.size) queue.push(item);
    else return false;
    this.#size += 1;
    return true;
  }

  /** Takes up to `count` items, the same number for each key, as far as the key has items. */
  take(count: number): Item[] {
    const taken: Item[] = [];
    while (taken.length < count && this.#size > 0) {
      const each = Math.max(1, Math.floor((count - taken.length) / this.#queues.size));
      this.#takeRound(each, count, taken);
    }
    return taken;
  }

  #takeRound(each: number, count: number, taken: Item[]): void {
    for (const [key, queue] of [...this.#queues]) {
      if (taken.length === count) return;
      const items = queue.splice(0, each);
      this.#size -= items.length;
      for (const item of items) taken.push(item);
      // A served key moves to the end of the order, which the next batch continues.
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
    }
  }
}
