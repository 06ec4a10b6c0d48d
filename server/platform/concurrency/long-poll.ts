import type { Clock } from '#server/platform/time/clock.ts';

/** How a long poll ended without an answer: its time is over, its client left, or the process stops. */
type HeldEnd = 'timeout' | 'disconnected' | 'stopping';

/**
 * Long poll: one request that is held until there is something to answer (specification sections 4.5 and 11.4). Each
 * wake makes the poll check again whether there is an answer. `End` lists further ways to end without an answer.
 */
export class LongPoll<End extends string = never> {
  #end: End | HeldEnd | undefined;
  #awake: boolean;
  #wake = Promise.withResolvers<void>();
  #cancelTimer = () => {};

  constructor(awake: boolean) {
    this.#awake = awake;
  }

  get ended(): End | HeldEnd | undefined {
    return this.#end;
  }

  /** True if the poll was woken since its last check, or has not checked yet. */
  get awake(): boolean {
    return this.#awake;
  }

  wake(): void {
    this.#awake = true;
    this.#wake.resolve();
  }

  end(how: End | HeldEnd): void {
    this.#end ??= how;
    this.#wake.resolve();
  }

  endAfter(clock: Clock, ms: number): void {
    this.#cancelTimer = clock.after(ms, () => this.end('timeout'));
  }

  /** Calls `check` at each wake. @returns its first result; undefined once the poll has ended */
  async firstOf<T>(check: () => Promise<T | undefined>): Promise<T | undefined> {
    for (;;) {
      if (!this.#awake && !this.#end) await this.#wake.promise;
      if (this.#end) return undefined;
      this.#awake = false;
      this.#wake = Promise.withResolvers();
      const found = await check();
      if (found !== undefined) return found;
    }
  }

  /** Resolves once the poll has ended, whatever wakes it. */
  async untilEnded(): Promise<void> {
    await this.firstOf(async () => undefined);
  }

  cancelTimer(): void {
    this.#cancelTimer();
  }
}

/** Upper bounds on the long polls that a process holds: for one key, and in all. */
interface LongPollLimits {
  readonly ofKey: number;
  readonly ofProcess: number;
}

/**
 * The long polls that this process holds, by the key that wakes them. A poll is held before its first check, so that it
 * misses no wake.
 */
export class LongPolls<Key, Poll extends LongPoll<string> = LongPoll> {
  readonly #limits: LongPollLimits | undefined;
  readonly #polls = new Map<Key, Set<Poll>>();
  #count = 0;
  #isStopping = false;

  constructor(limits?: LongPollLimits) {
    this.#limits = limits;
  }

  protected get held(): ReadonlyMap<Key, ReadonlySet<Poll>> {
    return this.#polls;
  }

  /** Returns the limit that one more long poll of a key would exceed; undefined if both limits allow it. */
  fullFor(key: Key): keyof LongPollLimits | undefined {
    if (!this.#limits) return undefined;
    if ((this.#polls.get(key)?.size ?? 0) >= this.#limits.ofKey) return 'ofKey';
    return this.#count >= this.#limits.ofProcess ? 'ofProcess' : undefined;
  }

  /** Holds a poll while `work` runs. It ends early when its client disconnects or the process stops. */
  async hold<T>(key: Key, poll: Poll, disconnect: AbortSignal, work: () => Promise<T>): Promise<T> {
    const onDisconnect = () => poll.end('disconnected');
    const polls = this.#polls.get(key) ?? new Set();
    this.#polls.set(key, polls.add(poll));
    this.#count += 1;
    disconnect.addEventListener('abort', onDisconnect);
    if (disconnect.aborted) onDisconnect();
    if (this.#isStopping) poll.end('stopping');
    try {
      return await work();
    } finally {
      poll.cancelTimer();
      disconnect.removeEventListener('abort', onDisconnect);
      polls.delete(poll);
      this.#count -= 1;
      if (polls.size === 0) this.#polls.delete(key);
    }
  }

  /** Wakes the polls of these keys; by default all polls. */
  wake(keys: Iterable<Key> = this.#polls.keys()): void {
    for (const key of keys) for (const poll of this.#polls.get(key) ?? []) poll.wake();
  }

  /** Ends every long poll, and each later one as soon as it is held. */
  stop(): void {
    this.#isStopping = true;
    for (const polls of this.#polls.values()) for (const poll of polls) poll.end('stopping');
  }
}
