import { LongPoll, LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { DeviceSessionId, NumberId } from '#server/platform/ids.ts';

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

/** How a poll ends for a newer one: `replaced` by a poll of its session, or `superseded` by a newer session. */
function endOf(older: PollIdentity, newer: PollIdentity): 'replaced' | 'superseded' {
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
 * - `contacts_checked`: as `contacts`, and the last check was a moment ago. A new message wakes the poll a second after
 *   that check, because each check reads past all messages held back.
 */
type HeldBack = 'none' | 'number' | 'contacts' | 'contacts_checked';

/** A poll that waits for a message of its number. */
export class DevicePoll extends LongPoll<'replaced' | 'superseded'> {
  /** Undefined until the look-up of the poll has ended. */
  identity: PollIdentity | undefined;
  #heldBack: HeldBack = 'none';
  /** Whether a message arrived during `contacts_checked`. */
  #isMessageNew = false;

  constructor() {
    super(false);
  }

  /** True if a timer will wake the poll, so that the sweep need not. */
  get isPaced(): boolean {
    return this.#heldBack !== 'none';
  }

  /** Records what pacing holds back. The caller sets a timer that wakes the poll, and one for `allowNextCheck`. */
  pace(isWholeNumber: boolean): void {
    this.#heldBack = isWholeNumber ? 'number' : 'contacts_checked';
    this.#isMessageNew = false;
  }

  allowNextCheck(): void {
    if (this.#heldBack !== 'contacts_checked') return;
    this.#heldBack = 'contacts';
    if (this.#isMessageNew) this.wake();
  }

  /** Wakes the poll: a message arrived or returned to the queue, or the number may send again. */
  wakeForMessage(): void {
    if (this.#heldBack === 'contacts_checked') this.#isMessageNew = true;
    else if (this.#heldBack !== 'number') this.wake();
  }

  override wake(): void {
    this.#heldBack = 'none';
    super.wake();
  }
}

/**
 * The polls that this process holds, by number. A poll is registered before its look-up, so that it misses no wake.
 * Once the look-up of a number's newest poll has ended, the number's older polls end. `wake` also wakes polls that
 * pacing holds back.
 */
export class PollRegistry extends LongPolls<NumberId, DevicePoll> {
  /** The numbers whose polls wait for a message. */
  get numbers(): NumberId[] {
    return this.#numbersWith(() => true);
  }

  /** Numbers whose polls have no timer that wakes them: the sweep checks their queues. */
  get numbersWithoutTimer(): NumberId[] {
    return this.#numbersWith((poll) => !poll.isPaced);
  }

  /** Identifies a poll after its look-up. All polls of the number but the newest one end. */
  identify(poll: DevicePoll, identity: PollIdentity): void {
    poll.identity = identity;
    for (const other of this.held.get(identity.numberId) ?? []) {
      if (other === poll || !other.identity) continue;
      if (isNewer(other.identity, identity)) poll.end(endOf(identity, other.identity));
      else other.end(endOf(other.identity, identity));
    }
  }

  /** Wakes the polls of numbers for which messages wait, except those that pacing holds back. */
  wakeForMessages(numberIds: Iterable<NumberId>): void {
    for (const numberId of numberIds) for (const poll of this.held.get(numberId) ?? []) poll.wakeForMessage();
  }

  /** Ends polls whose session was replaced by a newer one of the same number, on any process. */
  onSessionsStarted(payloads: Iterable<string>): void {
    for (const payload of payloads) {
      const [numberId, sessionId = ''] = payload.split(' ');
      for (const poll of this.held.get(numberId as NumberId) ?? [])
        if (poll.identity && sessionId > poll.identity.sessionId) poll.end('superseded');
    }
  }

  #numbersWith(fits: (poll: DevicePoll) => boolean): NumberId[] {
    return [...this.held].flatMap(([numberId, polls]) =>
      [...polls].some((poll) => poll.identity && !poll.ended && fits(poll)) ? [numberId] : [],
    );
  }
}
