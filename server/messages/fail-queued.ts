import type { FailureCode } from '#contract/message.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MediaFailure } from '#server/media/fetch-media.ts';
import { removeIncompleteMedia } from '#server/media/media-store.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { dayOf } from '#server/platform/time/calendar.ts';
import { refundMessages } from '#server/usage/usage.ts';
import { takeAnswersBack } from './answer-store.ts';
import { eraseMessageRow } from './erase-messages.ts';
import { removeMediaFetches } from './media-fetch-store.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';

const takeFromQueue = transactionQuery<
  { teamId: TeamId; messageIds: readonly MessageId[] },
  { message_id: MessageId; waits_for_media: boolean }
>(
  'messages.take-from-queue',
  // Rows are locked in the order of numbers, the order in which a claim for several numbers locks them.
  `WITH locked AS MATERIALIZED (
     SELECT message_id FROM send_queue WHERE team_id = :teamId AND message_id = ANY(:messageIds::uuid[])
     ORDER BY number_id, seq FOR UPDATE
   )
   DELETE FROM send_queue WHERE team_id = :teamId AND message_id = ANY (ARRAY(SELECT message_id FROM locked))
   RETURNING message_id, waits_for_media`,
);
const failUnsent = transactionQuery<
  { teamId: TeamId; messageIds: MessageId[]; now: Date; code: UnsentCode; mediaFailure: MediaFailure | null },
  MessageRow & { readonly counts_in_month: boolean }
>(
  'messages.fail-unsent',
  // A join, because PostgreSQL 15 and 16 may compare an array with each message of the team while the table is small.
  `UPDATE messages m SET status = ${sqlNextStatus('fail_unsent')}, failed_at = :now, error_code = :code, media_failure = :mediaFailure, last_event_sequence = m.last_event_sequence + 1
   WHERE (m.team_id, m.id) IN (SELECT :teamId::uuid, unnest(:messageIds::uuid[])) AND ${sqlStatusGuard('fail_unsent', 'm')} RETURNING ${sqlMessageColumns('m')},
     (SELECT NOT n.is_simulated FROM numbers n WHERE n.team_id = m.team_id AND n.id = m.number_id) AS counts_in_month`,
  { changes: 'message', team: ':teamId', ids: 'id' },
);

/** Failure codes of a message that is still queued. */
export type UnsentCode = Extract<
  FailureCode,
  'expired' | 'cancelled' | 'number_removed' | 'opted_out' | 'media_unavailable' | 'media_too_large'
>;

/**
 * Fails queued messages of a team, and ends their media fetches. The quota of messages that were never handed out is
 * refunded to their day and month, if they counted there. The caller has locked the team's usage.
 * @param isErased true while the contact is being erased: the events have neither text nor handle
 * @returns the number of failed messages; a message that a poll claimed meanwhile is left out
 */
export async function failQueued(
  trx: Transaction,
  services: Runtime,
  teamId: TeamId,
  messageIds: readonly MessageId[],
  code: UnsentCode,
  mediaFailure: MediaFailure | null = null,
  isErased = false,
): Promise<number> {
  const taken = await takeFromQueue.rows(trx, { teamId, messageIds });
  const fetched = taken.flatMap((row) => (row.waits_for_media ? row.message_id : []));
  if (fetched.length > 0) {
    await removeMediaFetches(trx, { teamId, messageIds: fetched });
    await removeIncompleteMedia(trx, fetched);
  }
  const selection = { teamId, messageIds: taken.map((row) => row.message_id) };
  const now = services.clock.now();
  const rows = await failUnsent.rows(trx, { ...selection, now, code, mediaFailure });
  const failed = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const shown = isErased ? failed.map(eraseMessageRow) : failed;
  await appendMessageEvents(trx, services, 'message.failed', shown);
  await takeAnswersBack(trx, failed);
  const free = failed.filter((message) => message.hand_out_count === 0 && message.counts_in_month);
  await refundMessages(
    trx,
    free.map((message) => ({ teamId, day: dayOf(message.created_at) })),
  );
  return failed.length;
}
