import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
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
  readonly team_id: TeamId;
  readonly number_id: NumberId;
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly to_handle: string;
  readonly content: string;
  /** The name of its file; null for a message without media. */
  readonly media_name: string | null;
}

/**
 * Claims messages for polls in one statement, at most one for each number: the hand-out (specification section 11.4).
 *
 * The share lock on a number orders the claim with a pause or a deletion. The lock on the session row orders it with
 * other polls, reports and takeovers. PostgreSQL re-reads both rows after a wait. Locks are taken in the order of
 * numbers, as every writer takes them. The primary key of in_flight refuses a second message.
 *
 * A queue is first in, first out for each contact: its heads are the oldest messages to their contacts. Among the heads
 * that may go, the oldest is next. A head that may not go holds back only the messages to its own contact. One to a
 * contact that opted out stays until the sweep fails it.
 *
 * The queue is read as it was before any wait. If a message returned to it meanwhile, a younger one would overtake it.
 * `requeue_count` shows that: the claim then finds no message, and the notification of the return wakes the poll. A row
 * that changed during a wait is left for the next claim: the sweep wakes the poll.
 *
 * Each table is read through LATERAL, row by row along one index, and changed at the row's place. The queues are empty
 * now and then, and so is a new month. A join would keep a plan of that moment, which reads them from end to end.
 */
const claim = statement<HandOut>(
  'messages.claim',
  `WITH
   -- 1. The polls that ask for a message, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[])
       AS t (team_id, number_id, device_id, session_id, poll_sequence)
     ORDER BY number_id
   ),
   -- 2. Lock the numbers that may send. IS NOT DISTINCT FROM keeps the plan off the index of the team's numbers.
   number AS MATERIALIZED (
     SELECT i.* FROM input i CROSS JOIN LATERAL (
       SELECT FROM numbers nu
       WHERE nu.id = i.number_id AND nu.team_id IS NOT DISTINCT FROM i.team_id
         AND nu.status = 'active' AND nu.deleted_at IS NULL FOR SHARE
     ) nu
   ),
   -- 3. Lock the sessions whose newest poll asks, and to whose queue no message returned since the snapshot.
   session AS MATERIALIZED (
     SELECT n.* FROM number n CROSS JOIN LATERAL (
       SELECT FROM device_sessions s
       WHERE s.number_id = n.number_id AND s.device_id = n.device_id AND s.session_id = n.session_id
         AND s.poll_sequence = n.poll_sequence
         AND s.requeue_count = (SELECT seen.requeue_count FROM device_sessions seen WHERE seen.number_id = n.number_id)
       FOR UPDATE
     ) s
   ),
   -- 4. Find the next message of each number without one in flight: the oldest head that may go.
   head AS MATERIALIZED (
     SELECT s.*, h.message_id, h.seq, h.queue_place FROM session s CROSS JOIN LATERAL (
       SELECT q.message_id, q.seq, q.ctid AS queue_place FROM send_queue q
       WHERE q.number_id = s.number_id AND NOT q.waits_for_media
         AND q.seq = (SELECT min(e.seq) FROM send_queue e WHERE e.number_id = q.number_id AND e.to_handle = q.to_handle)
         AND NOT ${sqlIsOptedOut('s.team_id', 'q.to_handle')}
       ORDER BY q.number_id, q.seq LIMIT 1
     ) h
     WHERE NOT EXISTS (SELECT FROM in_flight f WHERE f.number_id = s.number_id OFFSET 0)
   ),
   -- 5. Lock it in the queue; a cancelled one is gone by then.
   locked AS MATERIALIZED (
     SELECT h.* FROM head h CROSS JOIN LATERAL (
       SELECT q.ctid AS place FROM send_queue q WHERE q.ctid = h.queue_place AND q.message_id = h.message_id FOR UPDATE
     ) q
     WHERE q.place = h.queue_place
   ),
   -- 6. Find its row of the history. Only the primary key has the order that a range of one id asks for.
   found AS MATERIALIZED (
     SELECT l.*, m.month, m.place FROM locked l CROSS JOIN LATERAL (
       SELECT m.tableoid AS month, m.ctid AS place FROM messages m
       WHERE m.team_id = l.team_id AND m.id BETWEEN l.message_id AND l.message_id AND ${sqlStatusGuard('hand_out', 'm')}
       ORDER BY m.team_id, m.id LIMIT 1
     ) m
   ),
   -- 7. Move it on to polling. What follows concerns only the messages that moved.
   given AS (
     UPDATE messages m SET status = ${sqlNextStatus('hand_out')}, hand_out_count = m.hand_out_count + 1
     FROM found f WHERE m.tableoid = f.month AND m.ctid = f.place AND m.id = f.message_id AND ${sqlStatusGuard('hand_out', 'm')}
     RETURNING f.*, m.hand_out_count AS hand_out, m.to_handle, m.content, m.media_url
   ),
   -- 8. Remove it from the queue.
   dequeued AS (
     DELETE FROM send_queue q USING given g WHERE q.ctid = g.queue_place AND q.message_id = g.message_id
   ),
   -- 9. Put it in flight.
   flying AS (
     INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
     SELECT number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, $6, $7 FROM given
   ),
   -- 10. Record the hand-out.
   recorded AS (
     INSERT INTO hand_outs (message_id, hand_out, team_id, number_id, device_id, session_id, handed_out_at)
     SELECT message_id, hand_out, team_id, number_id, device_id, session_id, $6 FROM given
   ),
   -- 11. Extend the session: it lives for hold + 35 s after this answer.
   answered AS (
     UPDATE device_sessions s SET expires_at = $8 FROM given g WHERE s.number_id = g.number_id
   )
   SELECT team_id, number_id, message_id, hand_out, to_handle, content,
     CASE WHEN media_url IS NOT NULL
       THEN (SELECT f.name FROM media f WHERE f.message_id = given.message_id AND f.is_complete) END AS media_name
   FROM given`,
  { changes: 'message', team: 'team_id', ids: 'message_id' },
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
 * Claims the next message of a number for a poll.
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
    [teamId],
    [numberId],
    [deviceId],
    [sessionId],
    [poll],
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
