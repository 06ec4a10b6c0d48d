import type { PacingMode } from '#contract/pacing.ts';
import { query } from '#server/database/query.ts';
import type { PacingPolicy } from '#server/numbers/pacing.ts';
import { sqlIsBeingErased } from '#server/opt-outs/erasure-store.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
import type { DeviceId, DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { sqlNoteActivity } from './conversation-store.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';
import { sqlContactMaySend, sqlPacingPolicy, sqlPacingWindows } from './pacing-sql.ts';

/** A message as it is handed to a phone. */
export interface HandOut {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly to_handle: string;
  readonly content: string;
  /** The file name of the message's media; null without media. */
  readonly media_name: string | null;
}

/** Facts that a claim found for one poll, and the message that it handed out. `decideClaim` names the outcome. */
export interface ClaimFacts extends Omit<HandOut, 'team_id' | 'message_id'> {
  /** Position of the poll in the batch, from 1. */
  readonly n: number;
  /** False if the number is paused or deleted; null if another transaction has locked it. */
  readonly is_active: boolean | null;
  /** Whether the poll is the newest of the current session; null if another transaction has locked the session. */
  readonly is_newest: boolean | null;
  /** Whether a message has returned to the queue since the snapshot. */
  readonly is_requeued: boolean | null;
  readonly mode: PacingMode;
  /** When pacing lets the number send; null for now. */
  readonly ready_at: Date | null;
  /** When strict pacing lets the number write to a new contact; null for now. */
  readonly new_contacts_until: Date | null;
  /** The message that was found for the poll. */
  readonly head: MessageId | null;
  /** Whether the number has a queue; read only if pacing may hold it back. */
  readonly has_queue: boolean | null;
  /** The message that was handed out, with its team; null if none was. */
  readonly team_id: TeamId | null;
  readonly message_id: MessageId | null;
}

/**
 * Claims messages for polls in one statement, at most one for each number: the hand-out (specification section 11.4).
 * With SKIP LOCKED no number waits for the lock of another one.
 *
 * The share lock on a number orders the claim with a pause or a deletion. The lock on the session row orders it with
 * other polls, reports and takeovers. PostgreSQL re-reads both rows after a wait. Locks are taken in the order of
 * numbers, as every writer takes them. The primary key of the table in_flight refuses a second message in flight.
 *
 * The queue is first in, first out for each contact: a head is the oldest message to its contact. The oldest head that
 * may go is next. A head that may not go holds back only its own conversation. A message to a contact that opted out
 * stays until the sweep fails it. A message to a contact that is being erased stays until the erasure has ended. Held
 * messages count as if they were not in the queue.
 *
 * The queue is read from the snapshot, which is a little older than the locks. If a message returned to the queue
 * meanwhile, a younger one could overtake it. `requeue_count` shows this case. Then the poll claims again with a new
 * snapshot, and so does a poll whose message was changed.
 *
 * Pacing is decided under the session row lock, from rows of the snapshot (specification section 8, decision 0026). The
 * snapshot is older than the lock, but it has every hand-out that counts. Only the newest poll of the session gets a
 * message, and its look-up committed before this statement began. Every hand-out of an earlier poll committed before
 * that look-up. The snapshot may miss a released hand-out or a reply: both only allow more messages.
 *
 * Each table is read through LATERAL, row by row along one index, and updated by ctid. A plan for a join could be
 * cached while the tables are empty, and would read whole tables once they are long.
 */
export const claimStatement = query<
  {
    teamIds: TeamId[];
    numberIds: NumberId[];
    deviceIds: DeviceId[];
    sessionIds: DeviceSessionId[];
    polls: number[];
    now: Date;
    leasedUntil: Date;
    sessionsLiveUntil: Date;
    defaultPacing: PacingPolicy;
  },
  ClaimFacts
>(
  'messages.claim',
  `WITH
   -- 1. The polls that ask for a message, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest(:teamIds::uuid[], :numberIds::uuid[], :deviceIds::uuid[], :sessionIds::uuid[], :polls::bigint[])
       WITH ORDINALITY AS t (team_id, number_id, device_id, session_id, poll_sequence, n)
     ORDER BY number_id
   ),
   facts AS MATERIALIZED (
     SELECT i.*, nu.is_active, s.is_newest, s.is_requeued, s.hand_out_total, p.mode, r.ready_at, w.new_contacts_until,
       h.message_id, h.seq, h.contact, h.place AS queue_place, m.place,
       q.is_locked AND (c.is_locked OR NOT h.is_known) AS is_ready
     FROM input i
     -- 2. Lock the number.
     LEFT JOIN LATERAL (
       SELECT nu.pacing, nu.status = 'active' AND nu.deleted_at IS NULL AND nu.team_id = i.team_id AS is_active
       FROM numbers nu WHERE nu.id = i.number_id FOR SHARE SKIP LOCKED
     ) nu ON true
     -- 3. Lock the session of an active number.
     LEFT JOIN LATERAL (
       SELECT s.number_id, s.hand_out_total,
         s.device_id = i.device_id AND s.session_id = i.session_id AND s.poll_sequence = i.poll_sequence AS is_newest,
         s.requeue_count <> (SELECT seen.requeue_count FROM device_sessions seen WHERE seen.number_id = s.number_id) AS is_requeued
       FROM device_sessions s WHERE s.number_id = i.number_id AND nu.is_active FOR UPDATE SKIP LOCKED
     ) s ON true
     -- 4. Compute when pacing lets the number send; if pacing is off, nothing is read.
     ${sqlPacingPolicy(':defaultPacing', 'nu.pacing')}
     ${sqlPacingWindows('s', ':now')}
     CROSS JOIN LATERAL (SELECT greatest(w.gap_until, w.hour_until, w.day_until) AS ready_at) r
     -- 5. Find the oldest head that may go, if the number may send and has no message in flight.
     LEFT JOIN LATERAL (
       SELECT q.message_id, q.seq, q.to_handle AS contact, q.ctid AS place,
         EXISTS (SELECT FROM conversations o WHERE o.number_id = q.number_id AND o.contact = q.to_handle) AS is_known
       FROM send_queue q
       WHERE s.is_newest AND NOT s.is_requeued AND (r.ready_at IS NULL OR r.ready_at <= :now)
         AND NOT EXISTS (SELECT FROM in_flight f WHERE f.number_id = i.number_id OFFSET 0)
         AND q.number_id = i.number_id AND q.is_ready AND NOT q.waits_for_media
         AND q.seq = (SELECT min(e.seq) FROM send_queue e WHERE e.number_id = q.number_id AND e.to_handle = q.to_handle AND e.is_ready)
         AND NOT ${sqlIsOptedOut('i.team_id', 'contact', 'q.to_handle')}
         AND NOT ${sqlIsBeingErased('i.team_id', 'q.to_handle')}
         AND ${sqlContactMaySend('q', ':now')}
       ORDER BY q.number_id, q.seq LIMIT 1
     ) h ON true
     -- 6. Lock the message in the queue, unless it was cancelled or held meanwhile.
     LEFT JOIN LATERAL (
       SELECT true AS is_locked FROM send_queue q WHERE q.ctid = h.place AND q.message_id = h.message_id AND q.is_ready FOR UPDATE SKIP LOCKED
     ) q ON true
     -- 7. Lock its conversation, if that exists.
     LEFT JOIN LATERAL (
       SELECT true AS is_locked FROM conversations c
       WHERE c.number_id = i.number_id AND c.contact = h.contact FOR NO KEY UPDATE SKIP LOCKED
     ) c ON true
     -- 8. Find the message's row in the table messages.
     LEFT JOIN LATERAL (SELECT m.ctid AS place FROM messages m WHERE m.team_id = i.team_id AND m.id = h.message_id OFFSET 0) m ON true
   ),
   -- 9. Set its status to polling. The next steps take only messages whose status changed.
   given AS (
     UPDATE messages m SET status = ${sqlNextStatus('hand_out')}, hand_out_count = m.hand_out_count + 1
     FROM facts f WHERE f.is_ready AND m.ctid = f.place AND m.id = f.message_id AND ${sqlStatusGuard('hand_out', 'm')}
     RETURNING f.n, f.team_id, f.number_id, f.message_id, f.device_id, f.session_id, f.poll_sequence, f.seq, f.contact, f.queue_place, f.hand_out_total, f.mode,
       m.hand_out_count AS hand_out, m.from_handle, m.to_handle, m.content, m.media_url
   ),
   -- 10. Remove it from the queue.
   dequeued AS (
     DELETE FROM send_queue q USING given g WHERE q.ctid = g.queue_place AND q.message_id = g.message_id
   ),
   -- 11. Put it in flight.
   flying AS (
     INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
     SELECT number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, :now, :leasedUntil FROM given
   ),
   -- 12. Record the hand-out.
   recorded AS (
     INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at)
     SELECT message_id, hand_out, team_id, device_id, session_id, :now FROM given
   ),
   -- 13. Record the hand-out, with its number, for the limits of pacing.
   windowed AS (
     INSERT INTO recent_hand_outs (team_id, number_id, ordinal, message_id, hand_out, contact, handed_out_at)
     SELECT team_id, number_id, hand_out_total + 1, message_id, hand_out, contact, :now FROM given WHERE mode <> 'off'
   ),
   -- 14. Extend the session: it ends 35 s after the next long poll's full time. Count the hand-out if it was numbered.
   answered AS (
     UPDATE device_sessions s SET expires_at = :sessionsLiveUntil, handed_out_at = :now, hand_out_total = s.hand_out_total + (g.mode <> 'off')::int
     FROM given g WHERE s.number_id = g.number_id
   ),
   -- 15. Open the conversation, or count one more message without a reply.
   conversed AS (
     INSERT INTO conversations AS c (team_id, number_id, contact, id, opened_by, opened_at, unanswered_count,
       last_activity_at, last_message_id, handles)
     SELECT team_id, number_id, contact, conversation_id(team_id, from_handle, contact), 'team', :now, 1, :now, message_id, CASE WHEN to_handle = contact THEN '{}' ELSE ARRAY[to_handle] END FROM given
     ON CONFLICT (number_id, contact) DO UPDATE SET unanswered_count = c.unanswered_count + 1, ${sqlNoteActivity}
   )
   -- 16. Return what was found for each poll. A null team_id notifies no change.
   SELECT f.n::int, f.is_active, f.is_newest, f.is_requeued, f.mode, f.ready_at, f.new_contacts_until, f.message_id AS head,
     CASE WHEN g.n IS NULL AND f.is_newest AND (f.ready_at IS NOT NULL OR f.mode = 'strict')
       THEN EXISTS (SELECT FROM send_queue q WHERE q.number_id = f.number_id AND q.is_ready OFFSET 0) END AS has_queue,
     g.team_id, g.message_id, g.hand_out, g.to_handle, g.content,
     CASE WHEN g.media_url IS NOT NULL
       THEN (SELECT x.name FROM media x WHERE x.message_id = g.message_id AND x.is_complete) END AS media_name
   FROM facts f LEFT JOIN given g ON g.n = f.n`,
  { changes: 'message', team: 'team_id', ids: 'message_id' },
);
