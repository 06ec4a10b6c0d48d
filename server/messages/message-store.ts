import type { FailureCode } from '#contract/message.ts';
import { findNames } from '#server/contacts/contact-store.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import type {
  ContactId,
  DeviceId,
  DeviceSessionId,
  MessageId,
  NumberId,
  TeamId,
} from '#server/platform/ids.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';

/** Why a queued message is held. Its expiry stands still, except while it waits for an approval. */
export type Hold = 'approval' | 'outage' | 'restore';

/** SQL for the hold of a restore that no person has resumed; NULL without one. */
export const sqlRestoreHold =
  "(SELECT 'restore' FROM holds WHERE reason = 'restore' AND resumed_at IS NULL LIMIT 1)";

/** SQL for the hold of a message that was accepted before an outage that no person has resumed; NULL without one. */
function sqlOutageHold(acceptedAt: string): string {
  return `(SELECT 'outage' FROM holds WHERE reason = 'outage' AND resumed_at IS NULL AND held_at >= ${acceptedAt} LIMIT 1)`;
}

/**
 * SQL for the hold of a team's message that joins the queue now. Until a restore is resumed, every message is held.
 * While held messages of the team wait for their release, a new one is held, too, so that it overtakes none.
 */
export function sqlHoldOnJoin(teamId: string): string {
  return `coalesce(${sqlRestoreHold}, CASE WHEN EXISTS (SELECT FROM send_queue WHERE hold = 'restore')
    THEN (SELECT 'restore' FROM send_queue h WHERE h.hold = 'restore' AND h.team_id = ${teamId} LIMIT 1) END)`;
}

/** Lower than every id. A range from this id makes the planner use the index, whatever the statistics say. */
const lowest = `'00000000-0000-0000-0000-000000000000'`;

/** Counts messages that wait for a phone; stops at `max`. */
export const countWaitingMessages = query<{ teamId: TeamId; max: number }>(
  'messages.count-waiting',
  `SELECT count(*)
   FROM (SELECT FROM send_queue q WHERE q.team_id = :teamId AND q.message_id > ${lowest} ORDER BY q.message_id LIMIT :max) w`,
).number;

/** Counts messages that failed after a time, without cancelled ones, among the newest `max` failed messages. */
export const countFailedMessages = query<{ teamId: TeamId; after: Date; max: number }>(
  // Reads along the index of failed messages, whose order is that of ids.
  'messages.count-failed',
  `SELECT count(*) FILTER (WHERE f.failed_at > :after AND f.error_code <> 'cancelled')
   FROM (SELECT m.failed_at, m.error_code FROM messages m
         WHERE m.team_id = :teamId AND m.failed_at IS NOT NULL AND m.id > ${lowest} ORDER BY m.id DESC LIMIT :max) f`,
).number;

/** True if a phone has confirmed one of the first or of the latest `max` messages. */
export const hasSentMessage = query<{ teamId: TeamId; max: number }>(
  'messages.any-sent',
  `SELECT WHERE EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = :teamId AND m.id > ${lowest} ORDER BY m.id DESC LIMIT :max) l
       WHERE l.sent_at IS NOT NULL
     ) OR EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = :teamId AND m.id > ${lowest} ORDER BY m.id LIMIT :max) f
       WHERE f.sent_at IS NOT NULL
     )`,
).hasRow;

interface HandOutRow {
  readonly hand_out: number;
  readonly session_id: DeviceSessionId;
  readonly handed_out_at: Date;
  readonly outcome: 'sent' | 'failed' | 'unconfirmed' | null;
}

/** A message that a phone took and has not reported yet. */
export interface InFlightRow {
  readonly number_id: NumberId;
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly seq: number;
}

type MessageKey = Pick<MessageRow, 'team_id' | 'id'>;

const sqlOfKey = 'm.team_id = :team_id AND m.id = :id';
const changedByKey = { changes: 'message', team: ':team_id', ids: ':id' } as const;

export const findMessage = query<{ teamId: TeamId; messageId: MessageId }, MessageRow>(
  'messages.find',
  `SELECT ${sqlMessageColumns('m')} FROM messages m WHERE m.team_id = :teamId AND m.id = :messageId`,
).row;

export const lockMessage = transactionQuery<{ teamId: TeamId; messageId: MessageId }, MessageRow>(
  'messages.lock',
  // Locks the message's queue row before the message, the same order in which a message is failed, claimed and
  // cancelled.
  `WITH place AS MATERIALIZED (
     SELECT FROM send_queue WHERE team_id = :teamId AND message_id = :messageId FOR UPDATE
   )
   SELECT ${sqlMessageColumns('m')} FROM messages m
   WHERE m.team_id = :teamId AND m.id = :messageId AND (SELECT count(*) FROM place) >= 0 FOR NO KEY UPDATE`,
).row;

/** Lists the hand-outs of a message, the oldest first. */
export const listHandOuts = query<{ messageId: MessageId }, HandOutRow>(
  'messages.hand-outs',
  `SELECT hand_out, session_id, handed_out_at, outcome FROM hand_outs WHERE message_id = :messageId ORDER BY hand_out`,
).rows;

/** Counts hand-outs that are not recorded, of teams that exist: those of a deleted team are gone with it. */
export const countMissingHandOuts = query<{
  teamIds: readonly TeamId[];
  messageIds: readonly MessageId[];
  handOuts: readonly number[];
}>(
  'messages.count-missing-hand-outs',
  `SELECT count(*) FROM unnest(:teamIds::uuid[], :messageIds::uuid[], :handOuts::smallint[]) AS m (team_id, id, n)
   WHERE NOT EXISTS (SELECT FROM hand_outs h WHERE h.message_id = m.id AND h.hand_out = m.n OFFSET 0)
     AND EXISTS (SELECT FROM teams t WHERE t.id = m.team_id OFFSET 0)`,
).number;

/**
 * Records the outcome of a hand-out.
 * @param isBelieved false keeps an outcome that was recorded before
 * @returns whether the outcome changed
 */
export const recordOutcome = transactionQuery<
  { messageId: MessageId; handOut: number; outcome: 'failed' | 'unconfirmed'; at: Date; isBelieved: boolean },
  { team_id: TeamId }
>(
  'messages.resolve-hand-out',
  `UPDATE hand_outs SET outcome = :outcome, resolved_at = :at
   WHERE message_id = :messageId AND hand_out = :handOut AND outcome IS DISTINCT FROM :outcome AND (:isBelieved OR outcome IS NULL)
   RETURNING team_id`,
  { changes: 'message', team: 'team_id', ids: ':messageId' },
).hasRow;

/**
 * Deletes the in-flight row: the phone may get its next message.
 * @returns undefined if this hand-out was resolved before
 */
export const removeInFlight = transactionQuery<
  Pick<InFlightRow, 'number_id' | 'message_id' | 'hand_out'>,
  InFlightRow
>(
  'messages.delete-in-flight',
  `DELETE FROM in_flight WHERE number_id = :number_id AND message_id = :message_id AND hand_out = :hand_out
   RETURNING number_id, team_id, message_id, hand_out, seq`,
).row;

/** True while a device has the message. */
export const isInFlightAt = query<{ numberId: NumberId; deviceId: DeviceId; messageId: MessageId }>(
  'messages.in-flight-at',
  'SELECT hand_out FROM in_flight WHERE number_id = :numberId AND device_id = :deviceId AND message_id = :messageId',
).hasRow;

const joinQueue = transactionQuery<
  Pick<MessageRow, 'team_id' | 'id' | 'number_id' | 'created_at'> & { contact: string; seq: number }
>(
  'messages.join-queue',
  `WITH counted AS (
     UPDATE device_sessions SET requeue_count = requeue_count + 1 WHERE number_id = :number_id
   )
   INSERT INTO send_queue (message_id, team_id, number_id, seq, to_handle, queued_at, hold)
   VALUES (:id, :team_id, :number_id, :seq, :contact, :created_at, coalesce(${sqlHoldOnJoin(':team_id')}, ${sqlOutageHold(':created_at')}))`,
).run;

/** Returns a message to its position in the queue. @param seq the position that the message got when it was accepted */
export function returnToQueue(trx: Transaction, message: MessageRow, seq: number): Promise<void> {
  return joinQueue(trx, { ...message, contact: contactOf(message.to_handle), seq });
}

/*
 * Status changes of a message. Each returns the updated row, or undefined if the state table does not allow the action.
 * That is an expected outcome: reports are repeated and come late.
 */

/** Records that a message was delivered. `events`: 0 if the team's plan has no message.delivered. */
export const confirmDelivered = transactionQuery<MessageKey & { at: Date; events: 0 | 1 }, MessageRow>(
  'messages.mark-delivered',
  `UPDATE messages m SET status = ${sqlNextStatus('confirm_delivered')}, delivered_at = :at, last_event_sequence = m.last_event_sequence + :events
   WHERE ${sqlOfKey} AND ${sqlStatusGuard('confirm_delivered', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  changedByKey,
).row;

function markFailed(
  name: string,
  action: 'fail_device_error' | 'fail_unconfirmed' | 'fail_not_delivered',
  code: FailureCode,
) {
  return transactionQuery<MessageKey & { at: Date; deviceError: string | null }, MessageRow>(
    name,
    `UPDATE messages m SET status = ${sqlNextStatus(action)}, failed_at = :at, error_code = '${code}', device_error = :deviceError,
       may_have_been_sent = m.may_have_been_sent OR ${action === 'fail_unconfirmed'}, last_event_sequence = m.last_event_sequence + 1
     WHERE ${sqlOfKey} AND ${sqlStatusGuard(action, 'm')} RETURNING ${sqlMessageColumns('m')}`,
    changedByKey,
  ).row;
}
export const failByDevice = markFailed('messages.mark-failed-by-device', 'fail_device_error', 'device_error');
export const failUnconfirmed = markFailed('messages.mark-unconfirmed', 'fail_unconfirmed', 'device_timeout');
export const failNotDelivered = markFailed(
  'messages.mark-not-delivered',
  'fail_not_delivered',
  'not_delivered',
);

export const markQueuedForRetry = transactionQuery<MessageKey, MessageRow>(
  'messages.mark-retried',
  `UPDATE messages m SET status = ${sqlNextStatus('retry')}, may_have_been_sent = true
   WHERE ${sqlOfKey} AND ${sqlStatusGuard('retry', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  changedByKey,
).row;

/** Finds the contacts that have the handles of the other sides of messages. @returns them by message */
export async function findContactsOf(db: Queryable, teamId: TeamId, messages: readonly MessageRow[]) {
  const handles = messages.map(({ direction, from_handle, to_handle }) =>
    contactOf(direction === 'inbound' ? from_handle : to_handle),
  );
  const names = await findNames(db, teamId, handles);
  return new Map(messages.map((message, index) => [message, names.get(handles[index] ?? '')]));
}

/** Finds the contact that has the handle of the other side. */
export async function findContactOf(db: Queryable, message: MessageRow): Promise<ContactId | null> {
  return (await findContactsOf(db, message.team_id, [message])).get(message)?.id ?? null;
}
