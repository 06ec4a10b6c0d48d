import { again, alone } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { transactionStatement } from '#server/database/statement.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { sqlStatusGuard } from './message-status.ts';
import { sqlSentColumns } from './message-store.ts';

/** The common report: the phone sent the message that it has, and says so with the session that got it. */
export interface SentReport {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  readonly sessionId: DeviceSessionId | undefined;
}

/** A report, with its message if that was confirmed. */
type ConfirmRow = {
  /** Position of the report in the batch, from 1. */
  readonly n: number;
} & (
  | (MessageRow & { readonly is_locked: false })
  /** `is_locked`: another transaction has locked the session. */
  | { readonly team_id: null; readonly id: null; readonly is_locked: boolean }
);

/**
 * Confirms messages in flight as sent (specification section 3.2). Reports that are late, repeated or about an earlier
 * hand-out change nothing.
 *
 * Locks are taken in the order of every writer: sessions by number, the row in flight, the message. A function locks
 * the sessions (decision 0050). Each table is read through LATERAL and
 * changed by ctid, for the reason that the claim gives.
 */
const confirm = transactionStatement<
  [readonly TeamId[], readonly NumberId[], readonly MessageId[], readonly (DeviceSessionId | null)[], Date],
  ConfirmRow
>(
  'messages.confirm-sent',
  `WITH
   -- 1. The reports, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY AS t (team_id, number_id, message_id, session_id, n)
     ORDER BY number_id
   ),
   -- 2. Lock the sessions of the numbers.
   session AS MATERIALIZED (
     SELECT i.* FROM input i JOIN lock_sessions($2::uuid[]) s ON s.number_id = i.number_id
   ),
   -- 3. Find the hand-outs in flight.
   flying AS MATERIALIZED (
     SELECT s.*, f.hand_out, f.place FROM session s CROSS JOIN LATERAL (
       SELECT f.hand_out, f.ctid AS place FROM in_flight f
       WHERE f.number_id = s.number_id AND f.team_id = s.team_id AND f.message_id = s.message_id AND f.session_id = s.session_id
       OFFSET 0
     ) f
   ),
   -- 4. Find the rows of the message and of the hand-out in the history.
   found AS MATERIALIZED (
     SELECT x.*, m.message_place, h.hand_out_place FROM flying x
     CROSS JOIN LATERAL (
       SELECT m.ctid AS message_place FROM messages m
       WHERE m.team_id = x.team_id AND m.id BETWEEN x.message_id AND x.message_id AND ${sqlStatusGuard('confirm_sent', 'm')}
       ORDER BY m.team_id, m.id LIMIT 1
     ) m
     CROSS JOIN LATERAL (
       SELECT h.ctid AS hand_out_place FROM hand_outs h
       WHERE h.message_id BETWEEN x.message_id AND x.message_id AND h.hand_out = x.hand_out
       ORDER BY h.message_id, h.hand_out LIMIT 1
     ) h
   ),
   -- 5. Remove them from the messages in flight, so that the phones may get their next one.
   landed AS (
     DELETE FROM in_flight f USING found x
     WHERE f.ctid = x.place AND f.number_id = x.number_id AND f.message_id = x.message_id AND f.hand_out = x.hand_out
     RETURNING x.n, x.message_id, x.hand_out, x.message_place, x.hand_out_place
   ),
   -- 6. Set the message's status to sent.
   sent AS (
     UPDATE messages m SET ${sqlSentColumns('$5')} FROM landed f
     WHERE m.ctid = f.message_place AND m.id = f.message_id AND ${sqlStatusGuard('confirm_sent', 'm')}
     RETURNING f.n, f.hand_out, f.hand_out_place, ${sqlMessageColumns('m')}
   ),
   -- 7. Record the outcome of the hand-out.
   settled AS (
     UPDATE hand_outs h SET outcome = 'sent', resolved_at = $5 FROM sent s
     WHERE h.ctid = s.hand_out_place AND h.message_id = s.id AND h.hand_out = s.hand_out
   )
   SELECT i.n::int, i.n NOT IN (SELECT n FROM session)
       AND EXISTS (SELECT FROM device_sessions d WHERE d.number_id = i.number_id OFFSET 0) AS is_locked, ${sqlMessageColumns('s')}
   FROM input i LEFT JOIN sent s ON s.n = i.n`,
  { changes: 'message', team: 'team_id', ids: 'id' },
);

/**
 * Confirms a batch of common reports in one transaction.
 * @returns one result per report, in order: `again` for a locked session, `alone` for a report that is not common
 */
export function confirmSentMessages(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>,
  reports: readonly SentReport[],
): Promise<(true | typeof again | typeof alone)[]> {
  const { database, clock } = services;
  return database.transaction(async (trx) => {
    const rows = await confirm.rows(
      trx,
      reports.map(({ teamId }) => teamId),
      reports.map(({ numberId }) => numberId),
      reports.map(({ messageId }) => messageId),
      reports.map(({ sessionId }) => sessionId ?? null),
      clock.now(),
    );
    const sent = rows.filter((row) => row.id !== null);
    await appendMessageEvents(trx, services, 'message.sent', sent);
    failpoint('reports before commit');
    const byPosition = new Map(rows.map((row) => [row.n, row]));
    return reports.map((_, index) => {
      const row = byPosition.get(index + 1);
      if (row?.is_locked) return again;
      return row?.id ? true : alone;
    });
  }, database.batches);
}
