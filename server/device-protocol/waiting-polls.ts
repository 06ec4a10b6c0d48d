import type { NumberId, SessionId } from '#server/platform/ids.ts';
import { LongPoll } from '#server/platform/long-poll.ts';

/** How a wait ended without a message. */
export type WaitEnd = 'held' | 'replaced' | 'left' | 'stopping';

/** Which poll: session ids sort by time, and polls count up within a session. */
export interface PollPlace {
  readonly numberId: NumberId;
  readonly sessionId: SessionId;
  readonly poll: number;
}

function isNewer(one: PollPlace, other: PollPlace): boolean {
  return one.sessionId === other.sessionId ? one.poll > other.poll : one.sessionId > other.sessionId;
}

/** One held poll. */
export class WaitingPoll extends LongPoll<WaitEnd> {
  readonly place: PollPlace;

  constructor(place: PollPlace, awake: boolean) {
    super(awake);
    this.place = place;
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

  /** The newest poll of a number waits, whichever came here first. */
  register(place: PollPlace, lookedAtSerial: number, awake: boolean): WaitingPoll {
    const { numberId } = place;
    const wokenAt = Math.max(
      this.#recent.get(numberId) ?? 0,
      this.#before.get(numberId) ?? 0,
      this.#everybodyAt,
    );
    const waiting = new WaitingPoll(place, awake || wokenAt > lookedAtSerial);
    const other = this.#waiting.get(numberId);
    if (other && isNewer(other.place, place)) waiting.end('replaced');
    else {
      other?.end('replaced');
      this.#waiting.set(numberId, waiting);
    }
    if (this.#stopping) waiting.end('stopping');
    return waiting;
  }

  remove(poll: WaitingPoll): void {
    const { numberId } = poll.place;
    if (this.#waiting.get(numberId) === poll) this.#waiting.delete(numberId);
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
