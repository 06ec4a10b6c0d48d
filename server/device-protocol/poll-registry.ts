import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';

/**
 * How a held poll ended without a message: `replaced` by a newer poll of its session, `superseded` by a newer session.
 */
export type WaitEnd = 'held' | 'replaced' | 'superseded' | 'left' | 'stopping';

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
 * Why a held poll waits. `paced`: pacing holds back every message of its number. `paced contacts`: it holds back those
 * to some contacts. `looked`: as `paced contacts`, but the poll checked the queue a moment ago.
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
   * Marks that a timer will wake the poll. If every message is held back, a new message does not wake it. If messages
   * to some contacts are held back, a new message wakes the poll after `endLook`: each check reads past all held-back
   * messages.
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

  /** Wakes the poll: a message arrived or returned to the queue, or the number may send again. */
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
 * numbered and remembered for a few seconds. If a wake for the number came after the poll's look-up began, the poll
 * does not wait at all. So no wake is lost between look-up and registration.
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
    this.#serial += 1;
    this.#allWokenAt = this.#serial;
    for (const poll of this.#held.values()) poll.wake();
  }

  /**
   * Forgets the wakes that are older than the previous call. The time between two calls is far longer than a look-up,
   * which is all that needs them.
   */
  purgeOldWakes(): void {
    this.#before = this.#recent;
    this.#recent = new Map();
  }

  /** Ends every held poll, and each later poll as soon as it registers. */
  stop(): void {
    this.#stopping = true;
    for (const poll of this.#held.values()) poll.end('stopping');
  }
}
