import {
  type History,
  lockOldRows,
  nextIdOf,
  type OldTeamRow,
  removeOldRows,
} from '#server/database/purge-walk.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { removeMediaOf } from '#server/media/media-store.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { fingerprintRetentionMs, idempotencyKeyMs, possibleRepeatMs, recentHandOutMs } from './limits.ts';
import { sqlIsFinished } from './message-status.ts';
import { removeSegmentsWithout } from './search/segment-store.ts';
import { inRounds, roundMax } from './sweep-messages.ts';

interface OldMessage extends OldTeamRow {
  readonly team_id: TeamId;
  readonly id: MessageId;
  /** The size of the message's files; null without files. */
  readonly file_bytes: number | null;
}

/** Upper bound on the size of the files that a batch deletes, besides those of its first message. */
const fileBytesMax = 20 * 1024 * 1024;

// Messages are locked before their files, as an erasure does. Messages that wait for a phone or are in flight stay. So do
// those that have an event, because an erasure finds the events of a contact through its messages.
const lock = lockOldRows<OldMessage>(
  'messages',
  `${sqlIsFinished('h')} AND NOT EXISTS (SELECT FROM events e WHERE e.team_id = h.team_id AND e.message_id = h.id OFFSET 0)`,
  `CASE WHEN h.media_url IS NOT NULL THEN (
     SELECT coalesce(sum(f.size_bytes), 0)::int8 FROM media f WHERE f.team_id = h.team_id AND f.message_id = h.id
   ) END AS file_bytes`,
);
const remove = removeOldRows('messages');

/** Messages as a table that retention shortens, with their hand-outs, files and segments of the search index. */
export const messageHistory: History<OldMessage> = {
  name: 'messages',
  findNext: nextIdOf('messages'),
  lock: async (trx, ...batch) => {
    const rows = await lock(trx, ...batch);
    let bytes = 0;
    const end = rows.findIndex((row, index) => {
      bytes += row.file_bytes ?? 0;
      return index > 0 && bytes > fileBytesMax;
    });
    return end < 0 ? rows : rows.slice(0, end);
  },
  remove: async (trx, rows) => {
    const withFiles = rows.flatMap((row) => (row.file_bytes === null ? [] : row.id));
    if (withFiles.length > 0) await removeMediaOf(trx, { messageIds: withFiles });
    await remove(trx, rows);
    for (const [teamId, ofTeam] of Map.groupBy(rows, (row) => row.team_id)) {
      const ids = ofTeam.map(({ id }) => id).sort();
      await removeSegmentsWithout(trx, { teamId, least: ids.at(0) ?? '', greatest: ids.at(-1) ?? '' });
    }
  },
};

/** Deletes conversations without activity since a time, for which no message waits. @returns the number deleted */
export const purgeConversations = transactionQuery<{ before: Date; limit: number }>(
  'messages.purge-conversations',
  // Locked rows stay: the transaction with the lock writes to that conversation, which is then no longer old.
  `DELETE FROM conversations c USING (
     SELECT o.number_id, o.contact FROM teams t
     CROSS JOIN LATERAL (
       SELECT c.number_id, c.contact FROM conversations c
       WHERE c.team_id = t.id AND c.last_activity_at < :before
         AND NOT EXISTS (SELECT FROM send_queue q WHERE q.number_id = c.number_id AND q.to_handle = c.contact OFFSET 0)
       ORDER BY c.team_id, c.last_activity_at, c.last_message_id LIMIT :limit FOR UPDATE SKIP LOCKED
     ) o LIMIT :limit
   ) o
   WHERE c.number_id = o.number_id AND c.contact = o.contact`,
).count;

/** Deletes device-given ids of messages before an id. @returns the number deleted */
export const purgeInboundIds = transactionQuery<{ before: string; limit: number }>(
  'messages.purge-inbound-ids',
  `DELETE FROM inbound_ids WHERE ctid = ANY (ARRAY(SELECT ctid FROM inbound_ids WHERE message_id < :before LIMIT :limit))`,
).count;

// Needs no index: a scan reads the table from its start, where the oldest rows are.
const purgeKeys = query<{ before: Date; limit: number }>(
  'messages.purge-idempotency-keys',
  `DELETE FROM idempotency_keys WHERE ctid IN (SELECT ctid FROM idempotency_keys WHERE created_at <= :before LIMIT :limit)
   RETURNING key`,
);
// Needs no index: 100,000 rows are scanned in 30 ms, every 10 minutes. Most rows stay for less than an hour.
const purgeRecent = query<{ before: Date; incompleteBefore: Date; limit: number }>(
  'messages.purge-recent-inbound',
  `DELETE FROM inbound_fingerprints WHERE ctid IN (
     SELECT ctid FROM inbound_fingerprints
     WHERE stored_at <= CASE calls_left WHEN 0 THEN :before::timestamptz ELSE :incompleteBefore::timestamptz END LIMIT :limit)
   RETURNING message_id`,
);

const purgeHandOuts = query<{ before: Date; limit: number }>(
  'messages.purge-recent-hand-outs',
  // Reads each number's hand-outs from the oldest, because no index contains their times.
  `DELETE FROM recent_hand_outs WHERE ctid = ANY (ARRAY(
     SELECT o.place FROM device_sessions s
     CROSS JOIN LATERAL (SELECT r.ctid AS place, r.handed_out_at FROM recent_hand_outs r
                         WHERE r.number_id = s.number_id ORDER BY r.ordinal LIMIT 100) o
     WHERE o.handed_out_at <= :before LIMIT :limit
   )) RETURNING ordinal`,
);

/**
 * Purge: deletes idempotency keys after 24 h, and fingerprints of inbound messages whose repeats can no longer come.
 */
export async function purgeKeysAndFingerprints({ database, clock }: Runtime): Promise<void> {
  const keysBefore = clock.in(-idempotencyKeyMs);
  const before = clock.in(-fingerprintRetentionMs);
  const incompleteBefore = clock.in(-possibleRepeatMs);
  await inRounds(() => purgeKeys.count(database.pool, { before: keysBefore, limit: roundMax }));
  await inRounds(() => purgeRecent.count(database.pool, { before, incompleteBefore, limit: roundMax }));
}

/** Deletes hand-outs that no window of pacing includes any more. */
export async function purgeRecentHandOuts({ database, clock }: Runtime): Promise<void> {
  const before = clock.in(-recentHandOutMs);
  await inRounds(() => purgeHandOuts.count(database.pool, { before, limit: roundMax }));
}
