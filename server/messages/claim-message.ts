import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import type { DeviceId, DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';

/** The calling poll: only the newest one of the current session gets a message. */
export interface ClaimingPoll {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly deviceId: DeviceId;
  readonly sessionId: DeviceSessionId;
  /** Number of the poll within its session. */
  readonly poll: number;
}

/** A message as it is handed to a phone. */
export interface HandOut {
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly to_handle: string;
  readonly content: string;
}

/**
 * Claims a message for a poll in one statement: the hand-out (specification section 11.4). The share lock on the number
 * orders it with a pause or a deletion. The lock on the session row orders it with other polls, reports and takeovers.
 * PostgreSQL re-reads both rows after a wait. The primary key of in_flight refuses a second message.
 *
 * The queue is read as it was before any wait. If a message returned to it meanwhile, a younger one would overtake it.
 * `requeue_count` shows that: the claim then finds no message, and the notification of the return wakes the poll.
 *
 * The message is looked up by an array as well. With its id alone, a plan that was made while the month was empty reads
 * all messages of the team.
 */
const claim = statement<HandOut>(
  'messages.claim',
  `WITH number AS MATERIALIZED (
     SELECT id FROM numbers
     WHERE team_id = $1 AND id = $2 AND status = 'active' AND deleted_at IS NULL FOR SHARE
   ), session AS MATERIALIZED (
     SELECT s.number_id FROM device_sessions s
     WHERE s.number_id = (SELECT id FROM number) AND s.device_id = $3 AND s.session_id = $4 AND s.poll_sequence = $5
       AND s.requeue_count = (SELECT requeue_count FROM device_sessions WHERE number_id = $2) FOR UPDATE
   ), next AS MATERIALIZED (
     SELECT q.message_id, q.team_id, q.number_id, q.seq FROM send_queue q
     WHERE q.number_id = (SELECT number_id FROM session) AND NOT q.waits_for_media AND NOT EXISTS (
       SELECT FROM send_queue e WHERE e.waits_for_media
         AND e.number_id = q.number_id AND e.to_handle = q.to_handle AND e.seq < q.seq)
     ORDER BY q.seq LIMIT 1 FOR UPDATE OF q
   ), flying AS (
     INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
     SELECT n.number_id, n.team_id, n.message_id, m.hand_out_count + 1, $3, $4, $5, n.seq, $6, $7
     FROM next n JOIN messages m ON m.team_id = $1 AND m.id = n.message_id AND ${sqlStatusGuard('hand_out', 'm')}
       AND m.id = ANY (ARRAY(SELECT message_id FROM next))
     ON CONFLICT (number_id) DO NOTHING
     RETURNING message_id, hand_out
   ), dequeued AS (
     DELETE FROM send_queue q USING flying f WHERE q.team_id = $1 AND q.message_id = f.message_id
   ), recorded AS (
     INSERT INTO hand_outs (message_id, hand_out, team_id, number_id, device_id, session_id, handed_out_at)
     SELECT f.message_id, f.hand_out, $1, $2, $3, $4, $6 FROM flying f
   ), answered AS (
     -- The session lives for hold + 35 s after this answer.
     UPDATE device_sessions s SET expires_at = $8 FROM flying f WHERE s.number_id = $2
   )
   UPDATE messages m SET status = ${sqlNextStatus('hand_out')}, hand_out_count = f.hand_out
   FROM flying f WHERE m.team_id = $1 AND m.id = f.message_id AND m.id = ANY (ARRAY(SELECT message_id FROM flying))
   RETURNING m.id AS message_id, f.hand_out, m.to_handle, m.content`,
  { changes: 'message', team: '$1', ids: 'message_id' },
);

// Release: the message returns to its position in the queue, and the hand-out is deleted.
const release = statement<{ seq: number; to_handle: string }>(
  'messages.release',
  `WITH landed AS (
     DELETE FROM in_flight WHERE number_id = $2 AND message_id = $3 AND session_id = $4 AND poll_sequence = $5
     RETURNING message_id, hand_out, seq
   ), forgotten AS (
     DELETE FROM hand_outs h USING landed l WHERE h.message_id = l.message_id AND h.hand_out = l.hand_out
   ), back AS (
     UPDATE messages m SET status = ${sqlNextStatus('release')}, hand_out_count = l.hand_out - 1
     FROM landed l WHERE m.team_id = $1 AND m.id = $3 AND m.id = l.message_id AND ${sqlStatusGuard('release', 'm')}
     RETURNING m.id, m.to_handle
   ), counted AS (
     UPDATE device_sessions s SET requeue_count = s.requeue_count + 1 FROM back b WHERE s.number_id = $2
   )
   INSERT INTO send_queue (message_id, team_id, number_id, seq, to_handle, queued_at)
   SELECT b.id, $1, $2, l.seq, b.to_handle, $6 FROM back b JOIN landed l ON l.message_id = b.id
   RETURNING seq, to_handle`,
  { changes: 'message', team: '$1', ids: '$3' },
);

/**
 * Claims the number's oldest message for a poll.
 * @returns undefined where there is none, or the poll may not have it
 */
export function claimMessage(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
  claimant: ClaimingPoll,
  sessionLiveUntil: Date,
): Promise<HandOut | undefined> {
  const { teamId, numberId, deviceId, sessionId, poll } = claimant;
  const now = clock.now();
  const leaseUntil = new Date(now.getTime() + config.deviceLeaseMs);
  return claim.row(
    database.hot,
    teamId,
    numberId,
    deviceId,
    sessionId,
    poll,
    now,
    leaseUntil,
    sessionLiveUntil,
  );
}

/**
 * Returns a hand-out to the queue, only for the poll that claimed it: its phone left before the first byte of the
 * answer (specification section 11.4).
 */
export async function releaseMessage(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  claimant: ClaimingPoll,
  messageId: MessageId,
): Promise<void> {
  const { teamId, numberId, sessionId, poll } = claimant;
  await database.transaction(async (trx: Transaction) => {
    await lockCurrentSession(trx, teamId, numberId);
    await release.row(trx, teamId, numberId, messageId, sessionId, poll, clock.now());
  });
}

const waitingNumbers = statement<{ number_id: NumberId }>(
  'messages.numbers-waiting',
  `SELECT w.number_id FROM unnest($1::uuid[]) AS w (number_id)
   WHERE EXISTS (SELECT FROM send_queue q WHERE q.number_id = w.number_id)`,
);

/** The numbers among these with messages for their phone. */
export async function filterNumbersWithMessages(
  db: Queryable,
  numberIds: readonly NumberId[],
): Promise<NumberId[]> {
  const rows = await waitingNumbers.rows(db, numberIds);
  return rows.map((row) => row.number_id);
}
