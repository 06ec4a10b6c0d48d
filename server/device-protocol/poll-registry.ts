import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';

/**
 * How a held poll ended without a message. `timeout`: the hold is over. `replaced`: by a newer poll of its session.
 * `superseded`: by a newer session. `disconnected`: the phone left. `stopping`: the process stops.
 */
export type WaitEnd = 'timeout' | 'replaced' | 'superseded' | 'disconnected' | 'stopping';

/**
 * Identifies a poll by its session and its number. Session ids sort by time, and polls are numbered within a session.
 */
export interface PollIdentity {
  readonly numberId: NumberId;
  readonly sessionId: DeviceSessionId;
  readonly poll: number;
}

function isNewer(one: PollIdentity, other: PollIdentity): boolean {
  return one.sessionId === other.sessionId ? one.poll > other.poll : one.sessionId > other.sessionId;
}

function endOf(older: PollIdentity, newer: PollIdentity): WaitEnd {
  return older.sessionId === newer.sessionId ? 'replaced' : 'superseded';
}

/** Names a session in the NOTIFY to other processes. */
export function sessionPayload(numberId: NumberId, sessionId: DeviceSessionId): string {
  return `${numberId} ${sessionId}`;
}

/**
 * The messages that pacing held back at the last check of the queue. They decide whether a new message wakes the poll:
 * - `none`: nothing. A new message wakes the poll.
 * - `number`: all messages of the number. A new message does not wake the poll; a timer will.
 * - `contacts`: messages to some contacts. A new message wakes the poll, because it may be to another contact.
 * - `contacts_paused`: as `contacts`, and the last check was a moment ago. A new message wakes the poll after this
 *   pause, because each check reads past all messages held back.
 */
type HeldBack = 'none' | 'number' | 'contacts' | 'contacts_paused';

/** A poll that waits for a message of its number. */
export class HeldPoll extends LongPoll<WaitEnd> {
  readonly identity: PollIdentity;
  #heldBack: HeldBack = 'none';
  /** Whether a message arrived during `contacts_paused`. */
  #isMessageNew = false;

  constructor(identity: PollIdentity, awake: boolean) {
    super(awake);
    this.identity = identity;
  }

  /** True if a timer will wake the poll, so that the sweep need not. */
  get isPaced(): boolean {
    return this.#heldBack !== 'none';
  }

  /** Records what pacing holds back. The caller sets a timer that wakes the poll, and one for `endCheckPause`. */
  pace(isWholeNumber: boolean): void {
    this.#heldBack = isWholeNumber ? 'number' : 'contacts_paused';
    this.#isMessageNew = false;
  }

  endCheckPause(): void {
    if (this.#heldBack !== 'contacts_paused') return;
    this.#heldBack = 'contacts';
    if (this.#isMessageNew) this.wake();
  }

  /** Wakes the poll: a message arrived or returned to the queue, or the number may send again. */
  wakeForMessage(): void {
    if (this.#heldBack === 'contacts_paused') this.#isMessageNew = true;
    else if (this.#heldBack !== 'number') this.wake();
  }

  override wake(): void {
    this.#heldBack = 'none';
    super.wake();
  }
}

/**
 * The polls that this process holds, one per number: a newer poll of a number replaces the older one.
 *
 * No wake is lost between the look-up of a poll and its registration. Wakes are counted, and the count at the latest
 * wake of each number is kept for a few seconds. A poll passes the count from before its look-up. If its number was woken
 * since then, the poll is awake when it registers.
 */
export class PollRegistry {
  readonly #held = new Map<NumberId, HeldPoll>();
  #wakeCount = 0;
  /** The value of `wakeCount` when all polls were last woken. */
  #allWokenAt = 0;
  /** The value of `wakeCount` when each number was last woken, since the latest call of `purgeOldWakes`. */
  #wokenAt = new Map<NumberId, number>();
  /** The same for numbers that were woken between the two latest calls of `purgeOldWakes`. */
  #wokenBefore = new Map<NumberId, number>();
  #stopping = false;

  /** The number of wakes so far: read it before the look-up, and pass it to `register` afterwards. */
  get wakeCount(): number {
    return this.#wakeCount;
  }

  get numbers(): NumberId[] {
    return [...this.#held.keys()];
  }

  /** Numbers whose polls have no timer that wakes them: the sweep checks their queues. */
  get numbersWithoutTimer(): NumberId[] {
    return [...this.#held].flatMap(([numberId, poll]) => (poll.isPaced ? [] : [numberId]));
  }

  /** Registers a poll. Only the newest poll of a number waits, even if an older poll registers later. */
  register(identity: PollIdentity, countAtLookup: number, awake: boolean): HeldPoll {
    const { numberId } = identity;
    const wokenAt = Math.max(
      this.#wokenAt.get(numberId) ?? 0,
      this.#wokenBefore.get(numberId) ?? 0,
      this.#allWokenAt,
    );
    const waiting = new HeldPoll(identity, awake || wokenAt > countAtLookup);
    const other = this.#held.get(numberId);
    if (other && isNewer(other.identity, identity)) waiting.end(endOf(identity, other.identity));
    else {
      other?.end(endOf(other.identity, identity));
      this.#held.set(numberId, waiting);
    }
    if (this.#stopping) waiting.end('stopping');
    return waiting;
  }

  remove(poll: HeldPoll): void {
    const { numberId } = poll.identity;
    if (this.#held.get(numberId) === poll) this.#held.delete(numberId);
  }

  wake(numberIds: Iterable<NumberId>): void {
    this.#wakeCount += 1;
    for (const numberId of numberIds) {
      this.#wokenAt.set(numberId, this.#wakeCount);
      this.#held.get(numberId)?.wakeForMessage();
    }
  }

  /** Wakes the polls of numbers whose pacing has changed, because the new pacing may let messages go. */
  wakePaced(numberIds: Iterable<NumberId>): void {
    for (const numberId of numberIds) this.#held.get(numberId)?.wake();
  }

  /** Ends held polls whose session was replaced by a newer one of the same number, on any process. */
  onSessionsStarted(payloads: Iterable<string>): void {
    for (const payload of payloads) {
      const [numberId, sessionId = ''] = payload.split(' ');
      const held = this.#held.get(numberId as NumberId);
      if (held && sessionId > held.identity.sessionId) held.end('superseded');
    }
  }

  wakeAll(): void {
    this.#wakeCount += 1;
    this.#allWokenAt = this.#wakeCount;
    for (const poll of this.#held.values()) poll.wake();
  }

  /**
   * Forgets wakes from before the previous call. A poll needs a wake only between its look-up and its registration: far
   * less time than between two calls.
   */
  purgeOldWakes(): void {
    this.#wokenBefore = this.#wokenAt;
    this.#wokenAt = new Map();
  }

  /** Ends every held poll, and each later poll as soon as it registers. */
  stop(): void {
    this.#stopping = true;
    for (const poll of this.#held.values()) poll.end('stopping');
  }
}
