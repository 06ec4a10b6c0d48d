import type { FailureCode } from '#contract/message.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import type { DeviceId, DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlHoldOnJoin } from './hold.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';

export interface HandOutRow {
  readonly hand_out: number;
  readonly session_id: DeviceSessionId;
  readonly device_id: DeviceId;
  readonly handed_out_at: Date;
  readonly outcome: 'sent' | 'failed' | 'unconfirmed' | null;
}

export interface InFlightRow {
  readonly number_id: NumberId;
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly session_id: DeviceSessionId;
  readonly seq: number;
  readonly handed_out_at: Date;
  readonly leased_until: Date;
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
  `SELECT hand_out, session_id, device_id, handed_out_at, outcome FROM hand_outs WHERE message_id = :messageId ORDER BY hand_out`,
).rows;

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
   RETURNING number_id, team_id, message_id, hand_out, session_id, seq, handed_out_at, leased_until`,
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
   VALUES (:id, :team_id, :number_id, :seq, :contact, :created_at, ${sqlHoldOnJoin(':team_id')})`,
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
