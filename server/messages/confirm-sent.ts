import { pacingChannel } from '#server/database/channels.ts';
import { again } from '#server/database/group-commit.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { lateReportMs } from './limits.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';

/** A report that a message was sent. */
export interface SentReport {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  /** The session of the poll that reports; undefined for POST /v1/device/status. */
  readonly sessionId: DeviceSessionId | undefined;
}

/** Facts that were found for a report, and the message if it was confirmed. `decideReport` names the outcome. */
type ReportFacts = {
  /** Position of the report in the batch, from 1. */
  readonly n: number;
  /** The number of the reporting phone. */
  readonly reporter: NumberId;
  /** Whether another transaction has locked the session. */
  readonly is_locked: boolean;
  /** Whether the message is of this number, and was handed out, perhaps by a hand-out that a failover lost. */
  readonly is_known: boolean;
  /** Whether the message's status allows the confirmation. */
  readonly may_confirm: boolean;
  /** Whether the reporting session has the message. If so, no poll is woken: the session's next poll asks anyway. */
  readonly is_holder: boolean;
} & (MessageRow | { readonly team_id: null; readonly id: null });

/**
 * Confirms that messages were sent (specification section 3.2); no other statement does. A report concerns the hand-out
 * to its session; without one, the message's latest hand-out. A repeated report changes nothing. A late report confirms
 * a message that failed with device_timeout. It also confirms a message that waits for its retry, and cancels the
 * retry. A report of a message that is held after an outage and has no hand-out proves that a failover lost it.
 * Each table is read through LATERAL and changed by ctid, for the reason given in claim-statement.ts. The rows are read
 * from the snapshot, which is a little older than the locks. A message that was changed in between is not confirmed,
 * and its report runs again.
 */
const confirm = transactionQuery<
  {
    teamIds: TeamId[];
    numberIds: NumberId[];
    messageIds: MessageId[];
    sessionIds: (DeviceSessionId | null)[];
    at: Date;
    lateSince: Date;
  },
  ReportFacts
>(
  'messages.confirm-sent',
  `WITH
   -- 1. The reports, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest(:teamIds::uuid[], :numberIds::uuid[], :messageIds::uuid[], :sessionIds::uuid[])
       WITH ORDINALITY AS t (team_id, number_id, message_id, session_id, n)
     ORDER BY number_id
   ),
   facts AS MATERIALIZED (
     SELECT i.*, s.is_free, s.device_id, s.current_session, h.hand_out, h.place AS hand_out_place, h.outcome, m.place, m.may_confirm, q.place AS queue_place,
       m.may_confirm AND (m.status <> 'queued' OR q.place IS NOT NULL) AS is_ready,
       coalesce(h.session_id = i.session_id AND s.current_session = i.session_id, false) AS is_holder
     FROM input i
     -- 2. Lock the session of the number.
     LEFT JOIN LATERAL (
       SELECT true AS is_free, s.device_id, s.session_id AS current_session FROM device_sessions s WHERE s.number_id = i.number_id FOR UPDATE SKIP LOCKED
     ) s ON true
     -- 3. Find the hand-out that the report concerns.
     LEFT JOIN LATERAL (
       SELECT h.hand_out, h.session_id, h.handed_out_at, h.outcome, h.ctid AS place FROM hand_outs h
       WHERE s.is_free AND h.message_id = i.message_id
       ORDER BY (h.session_id = i.session_id) IS TRUE DESC, h.hand_out DESC LIMIT 1
     ) h ON true
     -- 4. Find the message, and see whether its status allows the confirmation.
     LEFT JOIN LATERAL (
       SELECT m.ctid AS place, m.status, ${sqlStatusGuard('confirm_sent', 'm')}
           OR ${sqlStatusGuard('confirm_sent_in_queue', 'm')} AND (m.hand_out_count > 0 OR h.hand_out IS NULL)
           OR ${sqlStatusGuard('confirm_sent_late', 'm')} AND m.error_code = 'device_timeout' AND h.handed_out_at >= :lateSince AS may_confirm
       FROM messages m WHERE m.team_id = i.team_id AND m.id = i.message_id AND m.number_id = i.number_id
         AND (h.hand_out IS NOT NULL OR s.is_free AND 'outage' = (
           SELECT o.hold FROM send_queue o WHERE o.team_id = i.team_id AND o.message_id = i.message_id))
       OFFSET 0
     ) m ON true
     -- 5. Lock its place in the queue, if it waits for its retry or is held.
     LEFT JOIN LATERAL (
       SELECT q.ctid AS place FROM send_queue q
       WHERE m.status = 'queued' AND q.team_id = i.team_id AND q.message_id = i.message_id FOR UPDATE SKIP LOCKED
     ) q ON true
   ),
   -- 6. Set the message's status to sent.
   sent AS (
     UPDATE messages m SET status = ${sqlNextStatus('confirm_sent')}, sent_at = :at, failed_at = NULL, error_code = NULL,
       device_error = NULL, may_have_been_sent = false, last_event_sequence = m.last_event_sequence + 1,
       hand_out_count = greatest(m.hand_out_count, 1)
     FROM facts f WHERE f.is_ready AND m.ctid = f.place AND m.id = f.message_id
     RETURNING f.n, ${sqlMessageColumns('m')}
   ),
   -- 7. Remove it from the messages in flight, so that the phone may get its next one, and from the queue.
   landed AS (
     DELETE FROM in_flight x USING facts f
     WHERE f.place IS NOT NULL AND x.number_id = f.number_id AND x.message_id = f.message_id AND x.hand_out = f.hand_out
   ),
   dequeued AS (
     DELETE FROM send_queue q USING facts f WHERE f.is_ready AND q.ctid = f.queue_place AND q.message_id = f.message_id
   ),
   -- 8. Record the outcome of the hand-out. If its message was not confirmed now, an earlier outcome is kept.
   settled AS (
     UPDATE hand_outs h SET outcome = 'sent', resolved_at = :at FROM facts f
     WHERE f.place IS NOT NULL AND h.ctid = f.hand_out_place AND h.message_id = f.message_id AND h.hand_out = f.hand_out
       AND (h.outcome IS NULL OR f.is_ready AND h.outcome <> 'sent')
   ),
   -- 9. Record the hand-out that a failover lost.
   found AS (
     INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at, outcome, resolved_at)
     SELECT f.message_id, 1, f.team_id, f.device_id, coalesce(f.session_id, f.current_session), :at, 'sent', :at
     FROM facts f JOIN sent s ON s.n = f.n WHERE f.hand_out IS NULL
   )
   SELECT f.n::int, f.number_id AS reporter, f.is_free IS NULL AND EXISTS (SELECT FROM device_sessions d WHERE d.number_id = f.number_id OFFSET 0) AS is_locked, f.place IS NOT NULL AS is_known, f.may_confirm IS TRUE AS may_confirm,
     f.is_holder, ${sqlMessageColumns('s')}
   FROM facts f LEFT JOIN sent s ON s.n = f.n`,
  { changes: 'message', team: 'team_id', ids: 'id' },
);

/** Names the outcome of a report: whether its message is of this number and was handed out. */
function decideReport(facts: ReportFacts | undefined): boolean | typeof again {
  if (!facts || facts.is_locked) return again;
  if (!facts.is_known) return false;
  // Another transaction has changed the message since the snapshot, or another report of the batch confirmed it.
  return facts.may_confirm && facts.id === null ? again : true;
}

/** Confirms messages, and appends their events. @returns one outcome per report, in order */
export async function confirmSent(
  services: Runtime,
  trx: Transaction,
  reports: readonly SentReport[],
): Promise<(boolean | typeof again)[]> {
  const { clock } = services;
  const rows = await confirm.rows(trx, {
    teamIds: reports.map(({ teamId }) => teamId),
    numberIds: reports.map(({ numberId }) => numberId),
    messageIds: reports.map(({ messageId }) => messageId),
    sessionIds: reports.map(({ sessionId }) => sessionId ?? null),
    at: clock.now(),
    lateSince: new Date(clock.expiryNow().getTime() - lateReportMs),
  });
  const sent = rows.filter((row) => row.id !== null);
  await appendMessageEvents(trx, services, 'message.sent', sent);
  const freed = rows.filter(({ is_known, is_holder }) => is_known && !is_holder);
  if (freed.length > 0) trx.notifyAfterCommit(pacingChannel, new Set(freed.map((row) => row.reporter)));
  const factsOf = new Map(rows.map((row) => [row.n, row]));
  return reports.map((_, index) => decideReport(factsOf.get(index + 1)));
}
