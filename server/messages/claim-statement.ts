import { statement } from '#server/database/statement.ts';
import type { PacingPolicy } from '#server/numbers/pacing-policy.ts';
import { sqlIsBeingErased } from '#server/opt-outs/erasure-store.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
import type { DeviceId, DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlNoteActivity } from './conversation-store.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';
import { sqlContactMaySend, sqlPacingPolicy, sqlPacingWindows } from './pacing-sql.ts';

/** A message as it is handed to a phone. */
export interface HandOut {
  readonly message_id: MessageId;
  readonly hand_out: number;
  readonly to_handle: string;
  readonly content: string;
  /** The file name of the message's media; null without media. */
  readonly media_name: string | null;
}

/** The outcome of a claim for one poll: a message, or the information that pacing holds its messages back. */
export type ClaimRow = {
  /** Position of the poll in the batch, from 1. */
  readonly n: number;
} & (
  | (HandOut & { readonly team_id: TeamId; readonly is_again: false })
  | {
      readonly team_id: null;
      readonly message_id: null;
      readonly is_again: false;
      readonly is_whole_number: boolean;
      readonly may_send_at: Date | null;
    }
  | { readonly team_id: null; readonly message_id: null; readonly is_again: true }
);

/** The values $1 to $9: the columns of the batch; the time, the end of the leases, the end of the sessions, the pacing. */
type ClaimParams = [
  teams: readonly TeamId[],
  numbers: readonly NumberId[],
  devices: readonly DeviceId[],
  sessions: readonly DeviceSessionId[],
  polls: readonly number[],
  now: Date,
  leasedUntil: Date,
  sessionsLiveUntil: Date,
  defaultPacing: PacingPolicy,
];

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
 * stays until the sweep fails it. A message to a contact that is being erased stays until the erasure has ended.
 *
 * The queue is read from the snapshot, which is a little older than the locks. If a message returned to the queue
 * meanwhile, a younger one could overtake it. `requeue_count` shows that. Such a poll claims again with a new snapshot,
 * and so does one whose message was changed.
 *
 * Pacing is decided under the session row lock, from rows of the snapshot (specification section 8, decision 0026). The
 * snapshot is older than the lock, but it has every hand-out that counts. Only the newest poll of the session gets a
 * message, and its look-up committed before this statement began. Every hand-out of an earlier poll committed before
 * that look-up. The snapshot may miss a released hand-out or a reply: both only allow more messages.
 *
 * Functions take the locks (decision 0050).
 *
 * Each table is read through LATERAL, row by row along one index, and updated by ctid. A plan for a join could be
 * cached while the queue or the history is empty, and would then read whole tables.
 */
export const claimStatement = statement<ClaimParams, ClaimRow>(
  'messages.claim',
  `WITH
   -- 1. The polls that ask for a message, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[])
       WITH ORDINALITY AS t (team_id, number_id, device_id, session_id, poll_sequence, n)
     ORDER BY number_id
   ),
   -- 2. Lock the active numbers.
   number AS MATERIALIZED (
     SELECT i.*, nu.pacing FROM input i
     JOIN lock_active_numbers($2::uuid[]) nu ON nu.id = i.number_id AND nu.team_id = i.team_id
   ),
   -- 3. Lock their sessions. Those whose newest poll asks go on, if no message has returned to their queue since the snapshot.
   session AS MATERIALIZED (
     SELECT n.*, s.hand_out_total FROM number n
     JOIN lock_sessions(ARRAY(SELECT number_id FROM number)) s
       ON s.number_id = n.number_id AND s.device_id = n.device_id AND s.session_id = n.session_id AND s.poll_sequence = n.poll_sequence
     WHERE s.requeue_count = (SELECT seen.requeue_count FROM device_sessions seen WHERE seen.number_id = n.number_id)
   ),
   -- 4. Compute when pacing lets each number send; where pacing is off, nothing is read.
   paced AS MATERIALIZED (
     SELECT s.*, p.mode, p.unanswered_per_contact, greatest(w.gap_until, w.hour_until, w.day_until) AS ready_at, w.new_contacts_until
     FROM session s ${sqlPacingPolicy('$9', 's.pacing')}
     ${sqlPacingWindows('s', '$6')}
   ),
   -- 5. Find the oldest head that may go, for each number that may send and has no message in flight.
   head AS MATERIALIZED (
     SELECT s.*, h.message_id, h.seq, h.contact, h.queue_place FROM paced s CROSS JOIN LATERAL (
       SELECT q.message_id, q.seq, q.to_handle AS contact, q.ctid AS queue_place FROM send_queue q
       WHERE q.number_id = s.number_id AND NOT q.waits_for_media
         AND q.seq = (SELECT min(e.seq) FROM send_queue e WHERE e.number_id = q.number_id AND e.to_handle = q.to_handle)
         AND NOT ${sqlIsOptedOut('s.team_id', 'q.to_handle')}
         AND NOT ${sqlIsBeingErased('s.team_id', 'q.to_handle')}
         AND ${sqlContactMaySend('q', 's', '$6')}
       ORDER BY q.number_id, q.seq LIMIT 1
     ) h
     WHERE (s.ready_at IS NULL OR s.ready_at <= $6)
       AND NOT EXISTS (SELECT FROM in_flight f WHERE f.number_id = s.number_id OFFSET 0)
   ),
   -- 6. Lock the message in the queue; if it was cancelled meanwhile, its row is gone.
   locked AS MATERIALIZED (
     SELECT h.* FROM head h JOIN lock_queued(ARRAY(SELECT queue_place FROM head)) q
       ON q.place = h.queue_place AND q.message_id = h.message_id
   ),
   -- 7. Find the message's row in the history. BETWEEN with ORDER BY makes the planner use the primary key.
   found AS MATERIALIZED (
     SELECT l.*, m.place FROM locked l CROSS JOIN LATERAL (
       SELECT m.ctid AS place FROM messages m
       WHERE m.team_id = l.team_id AND m.id BETWEEN l.message_id AND l.message_id AND ${sqlStatusGuard('hand_out', 'm')}
       ORDER BY m.team_id, m.id LIMIT 1
     ) m
   ),
   -- 8. Lock its conversation, if that exists.
   ready AS MATERIALIZED (
     SELECT f.* FROM found f
     LEFT JOIN lock_conversations(ARRAY(SELECT number_id FROM found), ARRAY(SELECT contact FROM found)) c ON c.number_id = f.number_id
     WHERE c.number_id IS NOT NULL
       OR NOT EXISTS (SELECT FROM conversations o WHERE o.number_id = f.number_id AND o.contact = f.contact OFFSET 0)
   ),
   -- 9. Set its status to polling. The next steps take only messages whose status changed.
   given AS (
     UPDATE messages m SET status = ${sqlNextStatus('hand_out')}, hand_out_count = m.hand_out_count + 1
     FROM ready f WHERE m.ctid = f.place AND m.id = f.message_id AND ${sqlStatusGuard('hand_out', 'm')}
     RETURNING f.n, f.team_id, f.number_id, f.message_id, f.device_id, f.session_id, f.poll_sequence, f.seq, f.contact, f.queue_place, f.hand_out_total, f.mode,
       m.hand_out_count AS hand_out, m.to_handle, m.content, m.media_url
   ),
   -- 10. Remove it from the queue.
   dequeued AS (
     DELETE FROM send_queue q USING given g WHERE q.ctid = g.queue_place AND q.message_id = g.message_id
   ),
   -- 11. Put it in flight.
   flying AS (
     INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
     SELECT number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, $6, $7 FROM given
   ),
   -- 12. Record the hand-out.
   recorded AS (
     INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at)
     SELECT message_id, hand_out, team_id, device_id, session_id, $6 FROM given
   ),
   -- 13. Number the hand-out for the windows of pacing.
   windowed AS (
     INSERT INTO recent_hand_outs (team_id, number_id, ordinal, message_id, hand_out, contact, handed_out_at)
     SELECT team_id, number_id, hand_out_total + 1, message_id, hand_out, contact, $6 FROM given WHERE mode <> 'off'
   ),
   -- 14. Extend the session to hold + 35 s after this answer, and count the hand-out if it was numbered.
   answered AS (
     UPDATE device_sessions s SET expires_at = $8, handed_out_at = $6, hand_out_total = s.hand_out_total + (g.mode <> 'off')::int
     FROM given g WHERE s.number_id = g.number_id
   ),
   -- 15. Open the conversation, or count one more message without a reply.
   conversed AS (
     INSERT INTO conversations AS c (team_id, number_id, contact, opened_by, opened_at, unanswered_count, opening_text_hash,
       last_activity_at, last_message_id, handles)
     SELECT team_id, number_id, contact, 'team', $6, 1, CASE WHEN mode <> 'off' THEN hashtextextended(content, 0) END,
       $6, message_id, CASE WHEN to_handle = contact THEN '{}' ELSE ARRAY[to_handle] END FROM given
     ON CONFLICT (number_id, contact) DO UPDATE SET unanswered_count = c.unanswered_count + 1, ${sqlNoteActivity}
   )
   SELECT n::int, team_id, message_id, hand_out, to_handle, content,
     CASE WHEN media_url IS NOT NULL
       THEN (SELECT f.name FROM media f WHERE f.message_id = given.message_id AND f.is_complete) END AS media_name,
     false AS is_whole_number, NULL::timestamptz AS may_send_at, false AS is_again
   FROM given
   UNION ALL
   -- The numbers that pacing holds back. A null team_id notifies no change.
   SELECT p.n::int, NULL, NULL, NULL, NULL, NULL, NULL, p.ready_at > $6, CASE WHEN p.ready_at > $6 THEN p.ready_at ELSE p.new_contacts_until END, false
   FROM paced p
   WHERE (p.ready_at > $6 OR p.mode = 'strict') AND p.n NOT IN (SELECT n FROM given) AND p.n NOT IN (SELECT n FROM head)
     AND EXISTS (SELECT FROM send_queue q WHERE q.number_id = p.number_id OFFSET 0)
   UNION ALL
   -- The polls that claim again: another transaction has changed the message that was found for them, or has locked a row.
   SELECT i.n::int, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true
   FROM input i
   WHERE i.n IN (SELECT n FROM head) AND i.n NOT IN (SELECT n FROM given)
     -- SKIP LOCKED left out the number or the session: the snapshot has both, and they allow a claim.
     OR i.n NOT IN (SELECT n FROM session)
     AND EXISTS (
       SELECT FROM numbers nu
       WHERE nu.id = i.number_id AND nu.team_id IS NOT DISTINCT FROM i.team_id AND nu.status = 'active' AND nu.deleted_at IS NULL OFFSET 0
     )
     AND EXISTS (
       SELECT FROM device_sessions s
       WHERE s.number_id = i.number_id AND s.device_id = i.device_id AND s.session_id = i.session_id
         AND s.poll_sequence = i.poll_sequence OFFSET 0
     )`,
  { changes: 'message', team: 'team_id', ids: 'message_id' },
);
