import { LongPoll } from '#server/platform/concurrency/long-poll.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids/ids.ts';

/** How a wait ended without a message: `replaced` by a newer poll of its session, `superseded` by a newer session. */
export type WaitEnd = 'held' | 'replaced' | 'superseded' | 'left' | 'stopping';

/** Identifies a poll: session ids sort by time, and polls count up within a session. */
export interface PollIdentity {
  readonly numberId: NumberId;
  readonly sessionId: DeviceSessionId;
  readonly poll: number;
}

function isNewer(one: PollIdentity, other: PollIdentity): boolean {
  return one.sessionId === other.sessionId ? one.poll > other.poll : one.sessionId > other.sessionId;
}

/** How an older poll ends because of a newer one of its number. */
function endOf(older: PollIdentity, newer: PollIdentity): WaitEnd {
  return older.sessionId === newer.sessionId ? 'replaced' : 'superseded';
}

/** A session of a number, for the notification of the processes. */
export function sessionPayload(numberId: NumberId, sessionId: DeviceSessionId): string {
  return `${numberId} ${sessionId}`;
}

/**
 * How a poll waits for its message. `paced`: pacing holds back every message of its number. `paced contacts`: those to
 * some contacts; `looked`: the same, and the poll has just looked past them.
 */
type HoldReason = 'queue' | 'paced' | 'paced contacts' | 'looked';

/** One held poll. */
export class HeldPoll extends LongPoll<WaitEnd> {
  readonly identity: PollIdentity;
  #reason: HoldReason = 'queue';
  /** Whether a message arrived since the look. */
  #isMessageNew = false;

  constructor(place: PollIdentity, awake: boolean) {
    super(awake);
    this.identity = place;
  }

  /** Whether an alarm wakes it, so that the sweep need not. */
  get isPaced(): boolean {
    return this.#reason !== 'queue';
  }

  /**
   * Says that an alarm will wake the poll. With every message held back, a message that arrives does not wake it; with
   * those to some contacts, it does once `endLook` is called: a look reads past all that is held back.
   */
  pace(isWholeNumber: boolean): void {
    this.#reason = isWholeNumber ? 'paced' : 'looked';
    this.#isMessageNew = false;
  }

  /** The look was long enough ago for the next one. */
  endLook(): void {
    if (this.#reason !== 'looked') return;
    this.#reason = 'paced contacts';
    if (this.#isMessageNew) this.wake();
  }

  /** A message arrived or returned, or the number may send again. */
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
 * The polls that this process holds, one per number: a newer poll of the same number replaces the one before.
 *
 * Wakes are numbered and remembered for a few seconds. A poll that registers is awake if its number was woken since its
 * look-up began, so that no wake is lost in between.
 */
export class PollRegistry {
  readonly #held = new Map<NumberId, HeldPoll>();
  #serial = 0;
  #allWokenAt = 0;
  #recent = new Map<NumberId, number>();
  #before = new Map<NumberId, number>();
  #stopping = false;

  /** The caller takes it before the look-up, and passes it to `register` afterwards. */
  get serial(): number {
    return this.#serial;
  }

  get numbers(): NumberId[] {
    return [...this.#held.keys()];
  }

  /** The numbers whose polls only a notification wakes: the sweep looks for their messages. */
  get numbersWithoutAlarm(): NumberId[] {
    return [...this.#held].flatMap(([numberId, poll]) => (poll.isPaced ? [] : [numberId]));
  }

  /** The newest poll of a number waits, whichever registered first. */
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

  /** The pacing of these numbers changed: whatever held their polls back may have ended. */
  wakePaced(numberIds: Iterable<NumberId>): void {
    for (const numberId of numberIds) this.#held.get(numberId)?.wake();
  }

  /** Sessions began, on any process: held polls of older sessions of their numbers end. */
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

  /** Drops wakes that are older than the call before; a look-up takes far less than the time between two calls. */
  purgeOldWakes(): void {
    this.#before = this.#recent;
    this.#recent = new Map();
  }

  /** Ends every held poll, and each later one at once. */
  stop(): void {
    this.#stopping = true;
    for (const poll of this.#held.values()) poll.end('stopping');
  }
}
