import type { WaitingReason } from '#contract/message.ts';
import type { HealthState } from '#contract/number-health.ts';
import { testLine, unsentRecipientPattern } from '#contract/test-line.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sqlHealthOfNumber } from '#server/numbers/number-health.ts';
import { defaultPacing, type PacingPolicy } from '#server/numbers/pacing.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { messagesAheadMax, strictAheadMax } from './limits.ts';
import type { MessageRow } from './message.ts';
import type { Hold } from './message-store.ts';
import { clockSlack, sqlPacingPolicy, sqlPacingWindows } from './pacing-sql.ts';

/** Input for the estimate of a message's hand-out. Times are milliseconds since 1970. */
export interface PacedQueue {
  readonly nowMs: number;
  readonly policy: PacingPolicy;
  /** Messages ahead that need no new conversation, except those that strict pacing holds back until a reply. */
  readonly ahead: number;
  /**
   * Under strict pacing, one entry for each new contact of the messages ahead. It counts the messages that follow the
   * one that opens the contact's conversation.
   */
  readonly openingsAhead: readonly number[];
  /** How many conversations of `openingsAhead` must open first: all, or those up to the message's own contact. */
  readonly openingsNeeded: number;
  /** Whether the message itself opens a conversation under strict pacing. */
  readonly isOpening: boolean;
  /** The times of the number's latest hand-outs, oldest first: enough to check its limits per hour and day. */
  readonly handedOutAtMs: readonly number[];
  /**
   * The times at which the number opened its latest conversations, oldest first: enough to check its limits of new
   * contacts.
   */
  readonly openedAtMs: readonly number[];
  /** The end of the current gap between two messages; a past time means now. */
  readonly gapUntilMs: number;
}

const hourMs = 3_600_000;

/**
 * Estimates when pacing lets a message go (specification section 4.3). The estimate assumes gaps of the mean length,
 * and that a message waiting for a new conversation lets other messages pass. Reports, replies and other messages may
 * change it.
 */
export function expectedAt(queue: PacedQueue): number {
  const { policy, openingsAhead } = queue;
  const gapMs = 500 * (policy.gap_min_seconds + policy.gap_max_seconds);
  const sent = [...queue.handedOutAtMs];
  const opened = [...queue.openedAtMs];
  let { ahead } = queue;
  let openings = 0;
  let nextMs = Math.max(queue.nowMs, queue.gapUntilMs);
  for (;;) {
    const atMs = Math.max(nextMs, freeAtMs(sent, policy.messages_per_hour, policy.messages_per_day));
    const opensAtMs = freeAtMs(opened, policy.new_contacts_per_hour, policy.new_contacts_per_day);
    if (openings < openingsAhead.length && opensAtMs <= atMs) {
      ahead += openingsAhead[openings] ?? 0;
      openings += 1;
      opened.push(atMs);
    } else if (ahead > 0) ahead -= 1;
    else if (openings < queue.openingsNeeded) {
      nextMs = opensAtMs;
      continue;
    } else return queue.isOpening ? Math.max(atMs, opensAtMs) : atMs;
    sent.push(atMs);
    nextMs = atMs + gapMs;
  }
}

/** The earliest time at which the limits per hour and day allow one more hand-out. @param timesMs oldest first */
function freeAtMs(timesMs: readonly number[], perHour: number, perDay: number): number {
  return Math.max(
    (timesMs.at(-perHour) ?? -Infinity) + hourMs,
    (timesMs.at(-perDay) ?? -Infinity) + 24 * hourMs,
  );
}

/** Why a queued message waits, and when it is expected to be handed out. */
export interface Waiting {
  readonly reason: WaitingReason | null;
  /** The estimated time of the hand-out while pacing holds back the message or one ahead of it; null otherwise. */
  readonly expectedAt: Date | null;
}

interface Circumstances extends PacingPolicy {
  readonly number_status: 'active' | 'paused';
  readonly health: HealthState;
  readonly busy: boolean;
  readonly fetching: boolean;
  readonly hold: Hold | null;
  /** The time until which the message stays in the queue; null for now. */
  readonly later: Date | null;
  /** True if an earlier message to the same contact waits for its media. */
  readonly behind_media: boolean;
  readonly ahead: number;
  readonly gap_until: Date | null;
  readonly hour_until: Date | null;
  readonly day_until: Date | null;
  readonly new_contacts_until: Date | null;
  /** Number of messages to the contact since its last reply; null if the message opens the conversation. */
  readonly unanswered_count: number | null;
  readonly handed_out_at: Date[];
  /** Under strict pacing: when the number opened its latest conversations, the latest first. */
  readonly opened_at: Date[] | null;
  /**
   * Under strict pacing: the contacts of the messages ahead, in order. The list may include the message's own contact.
   */
  readonly contacts_ahead: readonly ContactAhead[] | null;
}

interface ContactAhead {
  readonly is_own: boolean;
  readonly messages: number;
  /** Number of messages to the contact since its last reply; null if the first message ahead opens the conversation. */
  readonly unanswered: number | null;
}

const circumstances = query<
  { teamId: TeamId; messageId: MessageId; policy: PacingPolicy; now: Date },
  Circumstances
>(
  'messages.waiting-circumstances',
  `SELECT n.status AS number_status, ${sqlHealthOfNumber('n', ':now')} AS health, p.*, w.*, c.unanswered_count,
     EXISTS (SELECT FROM in_flight f WHERE f.number_id = n.id) AS busy,
     q.waits_for_media AS fetching, q.hold, q.ready_at AS later,
     EXISTS (SELECT FROM send_queue e WHERE e.number_id = n.id AND e.to_handle = q.to_handle AND e.is_ready AND e.seq < q.seq AND e.waits_for_media)
       AS behind_media,
     (SELECT count(*) FROM (SELECT FROM send_queue e WHERE e.number_id = n.id AND e.is_ready AND e.seq < q.seq LIMIT ${messagesAheadMax} + 1) a) AS ahead,
     ARRAY(SELECT r.handed_out_at FROM recent_hand_outs r WHERE r.number_id = n.id ORDER BY r.ordinal DESC
           LIMIT least(p.messages_per_day, ${messagesAheadMax})) AS handed_out_at,
     CASE WHEN p.mode = 'strict' THEN ARRAY(
       SELECT o.opened_at FROM conversations o WHERE o.number_id = n.id AND o.opened_by = 'team'
         AND o.opened_at > :now::timestamptz - interval '1 day' AND o.opened_at <= :now::timestamptz + ${clockSlack}
       ORDER BY o.number_id DESC, o.opened_at DESC LIMIT p.new_contacts_per_day) END AS opened_at,
     CASE WHEN p.mode = 'strict' THEN (
       SELECT coalesce(json_agg(json_build_object('is_own', a.to_handle = q.to_handle, 'messages', a.messages,
         'unanswered', (SELECT o.unanswered_count FROM conversations o WHERE o.number_id = n.id AND o.contact = a.to_handle))
         ORDER BY a.first), '[]')
       FROM (
         SELECT e.to_handle, count(*) AS messages, min(e.seq) AS first FROM (
           SELECT e.to_handle, e.seq FROM send_queue e WHERE e.number_id = n.id AND e.is_ready AND e.seq < q.seq
           ORDER BY e.number_id, e.seq LIMIT ${strictAheadMax}
         ) e GROUP BY e.to_handle
       ) a
     ) END AS contacts_ahead
   FROM send_queue q
   JOIN numbers n ON n.team_id = q.team_id AND n.id = q.number_id
   LEFT JOIN device_sessions s ON s.number_id = n.id
   LEFT JOIN conversations c ON c.number_id = n.id AND c.contact = q.to_handle
   ${sqlPacingPolicy(':policy', 'n.pacing')}
   ${sqlPacingWindows('s', ':now')}
   WHERE q.team_id = :teamId AND q.message_id = :messageId`,
);

const holdReasons = { restore: 'restore_hold', outage: 'held_after_outage', approval: null } as const;

export const notWaiting: Waiting = { reason: null, expectedAt: null };

/** Explains why a queued message waits (specification section 4.3). */
export async function explainWaiting(
  { database, clock, config }: Runtime,
  message: MessageRow,
): Promise<Waiting> {
  if (message.status !== 'queued') return notWaiting;
  const now = clock.now();
  const policy = defaultPacing(config.pacing);
  const { team_id: teamId, id: messageId } = message;
  const found = await circumstances.row(database.pool, { teamId, messageId, policy, now });
  if (!found) return notWaiting;
  if (found.hold !== null) return { reason: holdReasons[found.hold], expectedAt: null };
  if (isUnsentTest(message)) return { reason: 'phone_offline', expectedAt: null };
  if (found.later !== null) return { reason: null, expectedAt: found.later };
  return { reason: reasonOf(found, now), expectedAt: estimate(found, now) };
}

/**
 * Chooses the reason that is shown: the first one that a person can change. If several limits of pacing apply, the
 * limit with the longest wait counts.
 */
function reasonOf(found: Circumstances, now: Date): WaitingReason | null {
  const isAhead = (time: Date | null) => time !== null && time > now;
  if (found.number_status === 'paused') return 'number_paused';
  if (isSilent(found)) return 'phone_offline';
  if (found.fetching) return 'media_fetching';
  if (found.busy) return 'phone_busy';
  if (isUnanswered(found)) return 'pacing_unanswered';
  if (isAhead(found.day_until)) return 'pacing_day';
  if (isNewContact(found) && isAhead(found.new_contacts_until)) return 'pacing_new_contacts';
  if (isAhead(found.hour_until)) return 'pacing_hour';
  if (found.ahead > 0) return 'earlier_message';
  return isAhead(found.gap_until) ? 'pacing_gap' : null;
}

/** True for a test message that no phone takes: it waits as if its phone were off. */
function isUnsentTest({ from_handle: from, to_handle: to }: MessageRow): boolean {
  return from === testLine && unsentRecipientPattern.test(to);
}

function isSilent({ health }: Circumstances): boolean {
  return health === 'offline' || health === 'pending';
}

function isUnanswered({ mode, unanswered_count, unanswered_per_contact }: Circumstances): boolean {
  return mode === 'strict' && unanswered_count !== null && unanswered_count >= unanswered_per_contact;
}

function isNewContact({ mode, unanswered_count }: Circumstances): boolean {
  return mode === 'strict' && unanswered_count === null;
}

/**
 * Estimates the time of the hand-out; null if something besides pacing holds the message, if the contact has to reply
 * first (strict pacing), or if too many messages are ahead.
 */
function estimate(found: Circumstances, now: Date): Date | null {
  const isHeldOtherwise =
    found.number_status === 'paused' || isSilent(found) || found.fetching || found.behind_media;
  if (found.mode === 'off' || isHeldOtherwise || isUnanswered(found)) return null;
  if (found.ahead > (found.mode === 'strict' ? strictAheadMax : messagesAheadMax)) return null;
  const ahead = found.mode === 'strict' ? strictlyAhead(found) : gentlyAhead(found);
  if (!ahead) return null;
  const nowMs = now.getTime();
  const atMs = expectedAt({
    ...ahead,
    nowMs,
    policy: found,
    handedOutAtMs: oldestFirst(found.handed_out_at),
    openedAtMs: oldestFirst(found.opened_at ?? []),
    gapUntilMs: found.gap_until?.getTime() ?? nowMs,
  });
  return atMs > nowMs ? new Date(atMs) : null;
}

type Ahead = Pick<PacedQueue, 'ahead' | 'openingsAhead' | 'openingsNeeded' | 'isOpening'>;

function gentlyAhead({ ahead }: Circumstances): Ahead {
  return { ahead, openingsAhead: [], openingsNeeded: 0, isOpening: false };
}

/**
 * @returns undefined if the message needs a reply, because earlier messages to its contact reach the limit of messages
 * without a reply
 */
function strictlyAhead(found: Circumstances): Ahead | undefined {
  const contacts = found.contacts_ahead ?? [];
  const limit = found.unanswered_per_contact;
  const own = contacts.find((contact) => contact.is_own);
  if (own && (own.unanswered ?? 0) + own.messages >= limit) return undefined;
  const opening = contacts.filter((contact) => contact.unanswered === null);
  const known = contacts.map(({ unanswered, messages }) =>
    unanswered === null ? 0 : Math.min(messages, Math.max(limit - unanswered, 0)),
  );
  const isOpening = isNewContact(found) && own === undefined;
  return {
    ahead: known.reduce((sum, messages) => sum + messages, 0),
    openingsAhead: opening.map(({ messages }) => Math.min(messages, limit) - 1),
    openingsNeeded: isOpening ? opening.length : opening.findIndex((contact) => contact.is_own) + 1,
    isOpening,
  };
}

function oldestFirst(times: readonly Date[]): number[] {
  return times.map((time) => time.getTime()).reverse();
}
