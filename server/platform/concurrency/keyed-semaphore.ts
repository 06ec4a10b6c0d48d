import type { Clock } from '#server/platform/time/clock.ts';

interface KeyedSemaphoreOptions {
  readonly clock: Clock;
  /** How many tasks of one key may run at once. */
  readonly runningMax: number;
}

/** Bounds of a queue. A key has one queue for each name. */
export interface QueueBounds {
  readonly name: string;
  /** How many tasks may wait; a further task is refused. */
  readonly waitingMax: number;
  /** How long a task may wait before it is refused. */
  readonly waitMaxMs: number;
  readonly refuse: () => Error;
}

interface Waiting {
  readonly start: () => void;
  readonly cancelTimer: () => void;
}

interface KeyState {
  running: number;
  /** Queues with waiting tasks, in the order in which they are served next. */
  readonly queues: Map<string, Waiting[]>;
}

/**
 * Semaphore per key, with bounded FIFO queues in front of it. A key may have several queues, served round robin, so
 * that a long one does not delay the others. Idle keys use no memory.
 */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions;
  readonly #keys = new Map<string, KeyState>();

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options;
  }

  /** The number of keys with running or waiting tasks. */
  get size(): number {
    return this.#keys.size;
  }

  /** @throws the error of `refuse` if the queue is full or the wait was too long; `work` has not run then */
  async run<T>(key: string, queue: QueueBounds, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(key, queue);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Resolves with the function that releases the permit, to be called once. @throws as `run` */
  async acquire(key: string, queue: QueueBounds): Promise<() => void> {
    const state = this.#keys.get(key) ?? { running: 0, queues: new Map<string, Waiting[]>() };
    this.#keys.set(key, state);
    if (state.running < this.#options.runningMax) state.running += 1;
    else await this.#wait(state, queue);
    return () => this.#release(key, state);
  }

  #wait({ queues }: KeyState, { name, waitingMax, waitMaxMs, refuse }: QueueBounds): Promise<void> {
    const queue = queues.get(name) ?? [];
    if (queue.length >= waitingMax) return Promise.reject(refuse());
    queues.set(name, queue);
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#options.clock.after(waitMaxMs, () => {
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) queues.delete(name);
        reject(refuse());
      });
      const waiting = { start: resolve, cancelTimer };
      queue.push(waiting);
    });
  }

  /** Passes the permit to the next waiting task, if there is one, so that a new task never overtakes it. */
  #release(key: string, state: KeyState): void {
    const next = takeNext(state.queues);
    if (next) {
      next.cancelTimer();
      next.start();
      return;
    }
    state.running -= 1;
    if (state.running === 0) this.#keys.delete(key);
  }
}

/**
 * Acquires a permit of each semaphore, in order. @returns the function that releases all permits; its further calls do
 * nothing
 * @throws the error of `refuse`; no permit is held then
 */
export async function acquireAll(
  queue: QueueBounds,
  ...permits: readonly (readonly [semaphore: KeyedSemaphore, key: string])[]
): Promise<() => void> {
  const held: (() => void)[] = [];
  const release = () => {
    for (const giveBack of held.splice(0)) giveBack();
  };
  try {
    for (const [semaphore, key] of permits) held.push(await semaphore.acquire(key, queue));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

function takeNext(queues: Map<string, Waiting[]>): Waiting | undefined {
  const [first] = queues;
  if (!first) return undefined;
  const [name, queue] = first;
  const next = queue.shift();
  // The served queue moves to the end of the key's queues.
  queues.delete(name);
  if (queue.length > 0) queues.set(name, queue);
  return next;
}
