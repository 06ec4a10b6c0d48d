import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';

/**
 * How a held poll ended without a message: `replaced` by a newer poll of its session, `superseded` by a newer session.
 */
export type WaitEnd = 'held' | 'replaced' | 'superseded' | 'left' | 'stopping';

/** Identifies a poll. Session ids sort by time, and polls are numbered within a session. */
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
 * Why a held poll waits. `paced`: pacing holds back every message of its number. `paced contacts`: it holds back those
 * to some contacts. `looked`: the same, and the poll has checked the queue a moment ago.
 */
type HoldReason = 'queue' | 'paced' | 'paced contacts' | 'looked';

export class HeldPoll extends LongPoll<WaitEnd> {
  readonly identity: PollIdentity;
  #reason: HoldReason = 'queue';
  /** Whether a message arrived since the last check of the queue. */
  #isMessageNew = false;

  constructor(place: PollIdentity, awake: boolean) {
    super(awake);
    this.identity = place;
  }

  /** True if a timer will wake the poll, so that the sweep need not. */
  get isPaced(): boolean {
    return this.#reason !== 'queue';
  }

  /**
   * Marks that a timer will wake the poll. If every message is held back, a new message does not wake it. If only those
   * to some contacts are, it wakes the poll after `endLook`: each check reads past all messages held back.
   */
  pace(isWholeNumber: boolean): void {
    this.#reason = isWholeNumber ? 'paced' : 'looked';
    this.#isMessageNew = false;
  }

  /** Ends the pause between two checks of the queue. */
  endLook(): void {
    if (this.#reason !== 'looked') return;
    this.#reason = 'paced contacts';
    if (this.#isMessageNew) this.wake();
  }

  /** Called when a message arrived or returned to the queue, or the number may send again. */
  wakeForMessage(): void {
    if (this.#reason === 'looked') this.#isMessageNew = true;
    else if (this.#reason !== 'paced') this.wake();
  }

  override wake(): void {
    this.#reason = 'queue';
    super.wake();
  }
}

/**
 * The polls that this process holds, one per number: a newer poll of a number replaces the older one. Wakes are
 * numbered and remembered for a few seconds. If its number was woken since the look-up began, a poll is awake when it
 * registers: no wake is lost in between.
 */
export class PollRegistry {
  readonly #held = new Map<NumberId, HeldPoll>();
  #serial = 0;
  #allWokenAt = 0;
  #recent = new Map<NumberId, number>();
  #before = new Map<NumberId, number>();
  #stopping = false;

  /** Number of the latest wake: read it before the look-up, and pass it to `register` afterwards. */
  get serial(): number {
    return this.#serial;
  }

  get numbers(): NumberId[] {
    return [...this.#held.keys()];
  }

  /** Numbers whose polls only a notification wakes: the sweep checks their queues. */
  get numbersWithoutAlarm(): NumberId[] {
    return [...this.#held].flatMap(([numberId, poll]) => (poll.isPaced ? [] : [numberId]));
  }

  /** Registers a poll; only the newest poll of a number waits, whichever registered first. */
  register(identity: PollIdentity, lookedAtSerial: number, awake: boolean): HeldPoll {
    const { numberId } = identity;
    const wokenAt = Math.max(
      this.#recent.get(numberId) ?? 0,
      this.#before.get(numberId) ?? 0,
      this.#allWokenAt,
    );
    const waiting = new HeldPoll(identity, awake || wokenAt > lookedAtSerial);
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
    this.#serial += 1;
    for (const numberId of numberIds) {
      this.#recent.set(numberId, this.#serial);
      this.#held.get(numberId)?.wakeForMessage();
    }
  }

  /** Wakes the polls of numbers whose pacing has changed: it may hold back nothing any more. */
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
    this.#serial += 1;
    this.#allWokenAt = this.#serial;
    for (const poll of this.#held.values()) poll.wake();
  }

  /** Drops wakes from before the previous call; a look-up takes far less than the time between two calls. */
  purgeOldWakes(): void {
    this.#before = this.#recent;
    this.#recent = new Map();
  }

  /** Ends every held poll, and later ones at once. */
  stop(): void {
    this.#stopping = true;
    for (const poll of this.#held.values()) poll.end('stopping');
  }
}
