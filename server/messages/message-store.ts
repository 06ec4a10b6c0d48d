import type { FailureCode } from '#contract/message.ts';
import { statement, type Transaction, transactionStatement } from '#server/database/statement.ts';
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

export const findMessage = statement<[teamId: TeamId, messageId: MessageId], MessageRow>(
  'messages.find',
  `SELECT ${sqlMessageColumns('m')} FROM messages m WHERE m.team_id = $1 AND m.id = $2`,
).row;

export const lockMessage = transactionStatement<[teamId: TeamId, messageId: MessageId], MessageRow>(
  'messages.lock',
  // Locks the message's queue row before the message, the same order in which a message is failed, claimed and
  // cancelled.
  `WITH place AS MATERIALIZED (
     SELECT FROM send_queue WHERE team_id = $1 AND message_id = $2 FOR UPDATE
   )
   SELECT ${sqlMessageColumns('m')} FROM messages m
   WHERE m.team_id = $1 AND m.id = $2 AND (SELECT count(*) FROM place) >= 0 FOR NO KEY UPDATE`,
).row;

/** Lists the hand-outs of a message, the oldest first. */
export const listHandOuts = statement<[messageId: MessageId], HandOutRow>(
  'messages.hand-outs',
  `SELECT hand_out, session_id, device_id, handed_out_at, outcome FROM hand_outs WHERE message_id = $1 ORDER BY hand_out`,
).rows;

/**
 * Records the outcome of a hand-out.
 * @param isBelieved false keeps an outcome that was recorded before
 * @returns whether the outcome changed
 */
export const recordOutcome = transactionStatement<
  [
    messageId: MessageId,
    handOut: number,
    outcome: 'sent' | 'failed' | 'unconfirmed',
    at: Date,
    isBelieved: boolean,
  ],
  { team_id: TeamId }
>(
  'messages.resolve-hand-out',
  `UPDATE hand_outs SET outcome = $3, resolved_at = $4
   WHERE message_id = $1 AND hand_out = $2 AND outcome IS DISTINCT FROM $3 AND ($5 OR outcome IS NULL)
   RETURNING team_id`,
  { changes: 'message', team: 'team_id', ids: '$1' },
).hasRow;

/**
 * Deletes the in-flight row: the phone may get its next message.
 * @returns undefined if this hand-out was resolved before
 */
export const removeInFlight = transactionStatement<
  [numberId: NumberId, messageId: MessageId, handOut: number],
  InFlightRow
>(
  'messages.delete-in-flight',
  `DELETE FROM in_flight WHERE number_id = $1 AND message_id = $2 AND hand_out = $3
   RETURNING number_id, team_id, message_id, hand_out, session_id, seq, handed_out_at, leased_until`,
).row;

/** True while a device has the message. */
export const isInFlightAt = statement<[numberId: NumberId, deviceId: DeviceId, messageId: MessageId]>(
  'messages.in-flight-at',
  'SELECT hand_out FROM in_flight WHERE number_id = $1 AND device_id = $2 AND message_id = $3',
).hasRow;

const joinQueue = transactionStatement<[MessageId, TeamId, NumberId, number, string, Date]>(
  'messages.join-queue',
  `WITH counted AS (
     UPDATE device_sessions SET requeue_count = requeue_count + 1 WHERE number_id = $3
   )
   INSERT INTO send_queue (message_id, team_id, number_id, seq, to_handle, queued_at, hold)
   VALUES ($1, $2, $3, $4, $5, $6, ${sqlHoldOnJoin})`,
);

const markDelivered = transactionStatement<[TeamId, MessageId, Date, 0 | 1], MessageRow>(
  'messages.mark-delivered',
  `UPDATE messages m SET status = ${sqlNextStatus('confirm_delivered')}, delivered_at = $3, last_event_sequence = m.last_event_sequence + $4
   WHERE m.team_id = $1 AND m.id = $2 AND ${sqlStatusGuard('confirm_delivered', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);
const failedColumns = `status = 'failed', failed_at = $3, error_code = $4, device_error = $5, last_event_sequence = m.last_event_sequence + 1`;
const markFailedByDevice = transactionStatement<[TeamId, MessageId, Date, string, string | null], MessageRow>(
  'messages.mark-failed-by-device',
  `UPDATE messages m SET ${failedColumns}
   WHERE m.team_id = $1 AND m.id = $2 AND ${sqlStatusGuard('fail_device_error', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);
const markUnconfirmed = transactionStatement<[TeamId, MessageId, Date, string, null], MessageRow>(
  'messages.mark-unconfirmed',
  `UPDATE messages m SET ${failedColumns}, may_have_been_sent = true
   WHERE m.team_id = $1 AND m.id = $2 AND ${sqlStatusGuard('fail_unconfirmed', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);
const markNotDelivered = transactionStatement<[TeamId, MessageId, Date, string, string | null], MessageRow>(
  'messages.mark-not-delivered',
  `UPDATE messages m SET ${failedColumns}
   WHERE m.team_id = $1 AND m.id = $2 AND ${sqlStatusGuard('fail_not_delivered', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);
const markRetried = transactionStatement<[TeamId, MessageId], MessageRow>(
  'messages.mark-retried',
  `UPDATE messages m SET status = ${sqlNextStatus('retry')}, may_have_been_sent = true
   WHERE m.team_id = $1 AND m.id = $2 AND ${sqlStatusGuard('retry', 'm')} RETURNING ${sqlMessageColumns('m')}`,
  { changes: 'message', team: '$1', ids: '$2' },
);

/** Returns a message to its position in the queue. @param seq the position that the message got when it was accepted */
export async function returnToQueue(trx: Transaction, message: MessageRow, seq: number): Promise<void> {
  await joinQueue.run(
    trx,
    message.id,
    message.team_id,
    message.number_id,
    seq,
    contactOf(message.to_handle),
    message.created_at,
  );
}

/*
 * Status changes of a message. Each returns the updated row, or undefined if the state table does not allow the action.
 * That is an expected outcome: reports are repeated and come late.
 */

/**
 * Records that a message was delivered. @param withEvent true if the team's plan has message.delivered; otherwise no
 * event number is used
 */
export function confirmDelivered(
  trx: Transaction,
  message: Pick<MessageRow, 'team_id' | 'id'>,
  at: Date,
  withEvent: boolean,
): Promise<MessageRow | undefined> {
  return markDelivered.row(trx, message.team_id, message.id, at, withEvent ? 1 : 0);
}

export function failByDevice(
  trx: Transaction,
  message: MessageRow,
  at: Date,
  deviceError: string | null,
): Promise<MessageRow | undefined> {
  return markFailedByDevice.row(
    trx,
    message.team_id,
    message.id,
    at,
    'device_error' satisfies FailureCode,
    deviceError,
  );
}

export function failUnconfirmed(
  trx: Transaction,
  message: MessageRow,
  at: Date,
): Promise<MessageRow | undefined> {
  return markUnconfirmed.row(
    trx,
    message.team_id,
    message.id,
    at,
    'device_timeout' satisfies FailureCode,
    null,
  );
}

export function failNotDelivered(
  trx: Transaction,
  message: MessageRow,
  at: Date,
  deviceError: string | null,
): Promise<MessageRow | undefined> {
  return markNotDelivered.row(
    trx,
    message.team_id,
    message.id,
    at,
    'not_delivered' satisfies FailureCode,
    deviceError,
  );
}

export function markQueuedForRetry(trx: Transaction, message: MessageRow): Promise<MessageRow | undefined> {
  return markRetried.row(trx, message.team_id, message.id);
}
