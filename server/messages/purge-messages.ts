import { type IdRange, nextIdOf } from '#server/database/purge-walk.ts';
import { type Transaction, transactionStatement } from '#server/database/statement.ts';
import { removeMediaOf } from '#server/media/media-store.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { sqlIsFinished } from './message-status.ts';

// Reads team by team along the primary key. Messages are locked before their files, as an erasure does. Messages that
// are locked, wait for a phone or are in flight are skipped until the next walk.
const listFinished = transactionStatement<
  [string, string, number],
  { team_id: TeamId; id: MessageId; has_media: boolean }
>(
  'messages.list-finished',
  `SELECT o.team_id, o.id, o.has_media FROM teams t
   CROSS JOIN LATERAL (
     SELECT m.team_id, m.id, m.media_url IS NOT NULL AS has_media FROM messages m
     WHERE m.team_id = t.id AND m.id >= $1 AND m.id < $2 AND ${sqlIsFinished('m')}
     ORDER BY m.team_id, m.id LIMIT $3 FOR UPDATE SKIP LOCKED
   ) o LIMIT $3`,
);
const purge = transactionStatement<[TeamId[], MessageId[]]>(
  'messages.purge',
  `DELETE FROM messages m USING unnest($1::uuid[], $2::uuid[]) AS i (team_id, id)
   WHERE m.team_id = i.team_id AND m.id = i.id`,
);

export const findNextMessage = nextIdOf('messages');

/** Deletes conversations without activity since a time, for which no message waits. @returns the number deleted */
export const purgeConversations = transactionStatement<[before: Date, limit: number]>(
  'messages.purge-conversations',
  // Locked rows are skipped: the transaction with the lock writes to that conversation, which is then no longer old.
  `DELETE FROM conversations c USING (
     SELECT o.number_id, o.contact FROM teams t
     CROSS JOIN LATERAL (
       SELECT c.number_id, c.contact FROM conversations c
       WHERE c.team_id = t.id AND c.last_activity_at < $1
         AND NOT EXISTS (SELECT FROM send_queue q WHERE q.number_id = c.number_id AND q.to_handle = c.contact OFFSET 0)
       ORDER BY c.team_id, c.last_activity_at, c.last_message_id LIMIT $2 FOR UPDATE SKIP LOCKED
     ) o LIMIT $2
   ) o
   WHERE c.number_id = o.number_id AND c.contact = o.contact RETURNING c.contact`,
).count;

/** Deletes device-given ids of messages before an id. @returns the number deleted */
export const purgeInboundIds = transactionStatement<[before: string, limit: number]>(
  'messages.purge-inbound-ids',
  `DELETE FROM inbound_ids WHERE ctid = ANY (ARRAY(SELECT ctid FROM inbound_ids WHERE message_id < $1 LIMIT $2))
   RETURNING message_id`,
).count;

/** Upper bound on the files that a batch deletes, 20 MB together. */
const filesMax = 4;

/**
 * Deletes finished messages, with their hand-outs and files (specification section 10.9).
 * @returns the number of deleted messages; `limit` if a further batch is needed because of their files
 */
export async function purgeMessages(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  const found = await listFinished.rows(trx, range.from, range.to, limit);
  let files = 0;
  const end = found.findIndex((row) => row.has_media && ++files > filesMax);
  const rows = end < 0 ? found : found.slice(0, end);
  const ids = rows.map((row) => row.id);
  if (files > 0)
    await removeMediaOf(
      trx,
      rows.flatMap((row) => (row.has_media ? row.id : [])),
    );
  if (ids.length > 0)
    await purge.run(
      trx,
      rows.map((row) => row.team_id),
      ids,
    );
  return end < 0 ? rows.length : limit;
}
