import type { NumberId } from '#server/platform/ids.ts';

/** How a wait ended without a message. */
export type WaitEnd = 'held' | 'replaced' | 'left' | 'stopping';

/** One held poll. It is woken to look, as often as needed, until it ends. */
export class WaitingPoll {
  readonly numberId: NumberId;
  #end: WaitEnd | undefined;
  #awake: boolean;
  #wake = Promise.withResolvers<void>();

  constructor(numberId: NumberId, awake: boolean) {
    this.numberId = numberId;
    this.#awake = awake;
  }

  get ended(): WaitEnd | undefined {
    return this.#end;
  }

  /** Whether there is a reason to look. */
  get awake(): boolean {
    return this.#awake;
  }

  wake(): void {
    this.#awake = true;
    this.#wake.resolve();
  }

  end(how: WaitEnd): void {
    this.#end ??= how;
    this.#wake.resolve();
  }

  /** Resolves once there is a reason to look, or the wait has ended. */
  async untilWoken(): Promise<void> {
    if (!this.#awake && !this.#end) await this.#wake.promise;
    this.#awake = false;
    this.#wake = Promise.withResolvers();
    if (this.#end) this.#wake.resolve();
  }
}

/**
 * The polls that this process holds, one per number: a newer poll of the same number replaces the one before.
 *
 * A wake that comes between a poll's look and its registration is not lost: wakes are numbered and remembered for a
 * few seconds, and a poll that registers is awake if its number was woken since the look began.
 */
export class WaitingPolls {
  readonly #waiting = new Map<NumberId, WaitingPoll>();
  #serial = 0;
  #everybodyAt = 0;
  #recent = new Map<NumberId, number>();
  #before = new Map<NumberId, number>();
  #stopping = false;

  /** To be taken before the look, and handed to `register` after it. */
  get serial(): number {
    return this.#serial;
  }

  get numbers(): NumberId[] {
    return [...this.#waiting.keys()];
  }

  register(numberId: NumberId, lookedAtSerial: number, awake: boolean): WaitingPoll {
    const wokenAt = Math.max(
      this.#recent.get(numberId) ?? 0,
      this.#before.get(numberId) ?? 0,
      this.#everybodyAt,
    );
    const poll = new WaitingPoll(numberId, awake || wokenAt > lookedAtSerial);
    this.#waiting.get(numberId)?.end('replaced');
    this.#waiting.set(numberId, poll);
    if (this.#stopping) poll.end('stopping');
    return poll;
  }

  remove(poll: WaitingPoll): void {
    if (this.#waiting.get(poll.numberId) === poll) this.#waiting.delete(poll.numberId);
  }

  wake(numberIds: Iterable<NumberId>): void {
    this.#serial += 1;
    for (const numberId of numberIds) {
      this.#recent.set(numberId, this.#serial);
      this.#waiting.get(numberId)?.wake();
    }
  }

  wakeEverybody(): void {
    this.#serial += 1;
    this.#everybodyAt = this.#serial;
    for (const poll of this.#waiting.values()) poll.wake();
  }

  /** Forgets wakes that are older than the call before; a look takes far less than the time between two calls. */
  forgetOldWakes(): void {
    this.#before = this.#recent;
    this.#recent = new Map();
  }

  /** Every held poll is answered now, and none is held any more. */
  stop(): void {
    this.#stopping = true;
    for (const poll of this.#waiting.values()) poll.end('stopping');
  }
}
