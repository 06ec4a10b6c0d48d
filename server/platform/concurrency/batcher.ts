import { setImmediate as nextTick } from 'node:timers/promises';

/** Calls that get their results per tick while a batch runs: two or eight perform alike, sixteen are slower (decision 0005). */
const resultsPerTick = 4;

interface BatcherOptions<Input, Output> {
  /** Runs a batch. It returns one output per input, in the same order. */
  readonly run: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  readonly sizeMax: number;
  readonly inFlightMax: number;
  /**
   * Time that the first input of a batch waits for others. 0 gathers the inputs of one tick of the event loop, and runs
   * each batch while the callers of the previous batch get their results.
   */
  readonly windowMs: number;
  /** Multiplies the window; by default 1. */
  readonly stretch?: () => number;
  /**
   * Upper bound on waiting inputs. Beyond it, an input is refused if its queue already has an equal share of all
   * waiting inputs (FairQueue).
   */
  readonly waitingMax: number;
  /** The queue of an input; batches take from the queues round robin. By default all inputs share one queue. */
  readonly queueOf?: (input: Input) => unknown;
  readonly refuse: () => Error;
  /** The error of all waiting inputs after a batch failed; undefined if they go into the next batches. */
  readonly refuseWaiting?: (error: unknown) => Error | undefined;
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batcher: turns many single calls into few calls with batches, so that one commit serves all of them. A call gets the
 * output of its input, or the error of its whole batch. While as many batches run as `inFlightMax` allows, new inputs
 * wait; the end of a batch starts the next one.
 */
export class Batcher<Input, Output> {
  readonly #options: BatcherOptions<Input, Output>;
  readonly #waiting: FairQueue<Waiting<Input, Output>>;
  /** Whether a batch runs while the callers of the previous batch get their results. */
  readonly #overlaps: boolean;
  #inFlight = 0;
  #isScheduled = false;

  constructor(options: BatcherOptions<Input, Output>) {
    this.#options = options;
    this.#waiting = new FairQueue(options.waitingMax);
    this.#overlaps = options.windowMs === 0;
  }

  add(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push(this.#options.queueOf?.(input), { input, resolve, reject })) this.#schedule();
      else reject(this.#options.refuse());
    });
  }

  /** Starts a batch after the window, unless one is scheduled, or nothing waits, or no further batch may run. */
  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#inFlight >= this.#options.inFlightMax) return;
    this.#isScheduled = true;
    const start = () => {
      this.#isScheduled = false;
      this.#startBatch(this.#options.sizeMax);
    };
    if (this.#options.windowMs === 0) setImmediate(start);
    else setTimeout(start, this.#options.windowMs * (this.#options.stretch?.() ?? 1));
  }

  #startBatch(size: number): void {
    const batch = this.#waiting.take(size);
    if (batch.length === 0) return;
    this.#inFlight += 1;
    this.#options.run(batch.map(({ input }) => input)).then(
      (outputs) => {
        this.#onBatchDone(batch.length);
        return resolveCalls(batch, outputs, this.#overlaps ? resultsPerTick : batch.length);
      },
      (error) => {
        const refusal = this.#options.refuseWaiting?.(error);
        if (refusal) for (const { reject } of this.#waiting.take(this.#waiting.size)) reject(refusal);
        this.#onBatchDone(batch.length);
        for (const { reject } of batch) reject(error);
      },
    );
    this.#schedule();
  }

  /**
   * Starts the next batch before the callers of the finished batch get their results, so that the database works meanwhile.
   * The batch takes half of all calls in progress. A batch of nearly all calls would leave the database idle while
   * their callers get results, and this process idle while the batch runs.
   * @param size of the batch that is done
   */
  #onBatchDone(size: number): void {
    this.#inFlight -= 1;
    const half = Math.ceil((this.#waiting.size + size) / 2);
    if (this.#overlaps && !this.#isScheduled) this.#startBatch(Math.min(half, this.#options.sizeMax));
    else this.#schedule();
  }
}

/**
 * Resolves `perTick` calls in each tick of the event loop. Between ticks the process reads new calls and the result of
 * the batch in progress. If all calls were resolved at once, that result would stay unread, and the database idle,
 * until the last call.
 */
async function resolveCalls<Input, Output>(
  batch: readonly Waiting<Input, Output>[],
  outputs: readonly Output[],
  perTick: number,
): Promise<void> {
  for (const [index, { resolve, reject }] of batch.entries()) {
    if (index > 0 && index % perTick === 0) await nextTick();
    const output = outputs[index];
    if (output === undefined) reject(new Error('a batch returned no result for one of its calls'));
    else resolve(output);
  }
}

/**
 * Fair queue: a FIFO queue per key, taken round robin, so that a key with a long queue delays no other key. All keys
 * share one bound. Once the bound is reached, only keys that have at least their equal share of it are refused.
 */
class FairQueue<Item> {
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
      // A served key moves to the end of the order, so that the next batch begins with the other keys.
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
    }
  }
}
