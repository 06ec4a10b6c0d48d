import { sqlBoundedScan } from '#server/database/bounded-scan.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import { type MessageRow, sqlMessageColumns } from '#server/messages/message.ts';
import { idMax, type MessageId, type TeamId } from '#server/platform/ids.ts';
import { searchedCharactersMax, segmentsExaminedMax } from './limits.ts';
import type { SearchedMessage } from './parse-search.ts';

/** A run of a team's messages, by its first and last id. */
export interface Segment {
  readonly first_id: string;
  readonly last_id: string;
}

interface SearchedRow extends SearchedMessage {
  readonly id: MessageId;
}

const idMin = '00000000-0000-0000-0000-000000000000';

const searched = `m.id, left(m.content, ${searchedCharactersMax}) AS content,
  CASE m.direction WHEN 'inbound' THEN m.from_handle ELSE m.to_handle END AS handle`;

/** SQL of the id of the last message that has a segment. */
const sqlLastId = (
  teamId: string,
) => `coalesce((SELECT s.last_id FROM message_segments s WHERE s.team_id = ${teamId}
  AND s.last_id <= '${idMax}' ORDER BY s.team_id DESC, s.last_id DESC LIMIT 1), '${idMin}')`;

/** SQL of the last id of the segment that has an id, or of the next one. */
const sqlLastAt = (id: string) => `coalesce((SELECT b.last_id FROM message_segments b
  WHERE b.team_id = :teamId AND b.last_id >= ${id} ORDER BY b.team_id, b.last_id LIMIT 1), '${idMax}')`;

export const findLastSigned = query<{ teamId: TeamId }, { last_id: string }>(
  'search.last-signed',
  `SELECT ${sqlLastId(':teamId')} AS last_id`,
).one;

/** Messages of a segment, the newest first. */
export const listSearched = query<Segment & { teamId: TeamId; before: string; limit: number }, SearchedRow>(
  'search.messages',
  `SELECT ${searched} FROM messages m
   WHERE m.team_id = :teamId AND m.id >= :first_id AND m.id <= :last_id AND m.id < :before
   ORDER BY m.team_id DESC, m.id DESC LIMIT :limit`,
).rows;

/** The messages that a page shows, in the order of their ids in the list. */
export const listFound = query<{ teamId: TeamId; ids: readonly MessageId[] }, MessageRow>(
  'search.found',
  `SELECT ${sqlMessageColumns('m')} FROM unnest(:ids::uuid[]) WITH ORDINALITY AS i (id, n) CROSS JOIN LATERAL (
     SELECT ${sqlMessageColumns('m')} FROM messages m WHERE m.team_id = :teamId AND m.id BETWEEN i.id AND i.id
     ORDER BY m.team_id, m.id LIMIT 1
   ) m ORDER BY i.n`,
).rows;

/** SQL: all bits of the hashes are set. An empty signature has no bits, and may have all. */
const hasAll = (hashes: string) =>
  `NOT EXISTS (SELECT FROM unnest(${hashes}::int8[]) AS h
     WHERE get_bit(s.signature, h % nullif(octet_length(s.signature) * 8, 0)) = 0)`;

/**
 * Segments before an id that may have all tokens of one of two ways, the newest first. If there is one way, `others` is
 * empty.
 */
export const listCandidates = query<
  { teamId: TeamId; before: string; hashes: readonly number[]; others: readonly number[]; limit: number },
  Segment & { readonly fits: boolean; readonly is_bound: boolean }
>(
  'search.candidates',
  sqlBoundedScan(
    {
      alias: 's',
      order: 's.team_id DESC, s.last_id DESC',
      rows: `SELECT s.team_id, s.first_id, s.last_id, s.signature FROM message_segments s
        WHERE s.team_id = :teamId AND s.last_id <= ${sqlLastAt(':before')}`,
    },
    's.first_id, s.last_id',
    {
      fits: `(${hasAll(':hashes')} OR cardinality(:others::int8[]) > 0 AND ${hasAll(':others')})`,
      examinedMax: segmentsExaminedMax,
      limit: ':limit',
    },
  ),
).rows;

/** Teams after an id, each with whether a segment is due: messages for one are settled, or one is of the future. */
export const listTeamsToSign = query<
  { after: string; settled: string; messages: number; limit: number },
  { id: TeamId; is_due: boolean }
>(
  'search.teams-to-sign',
  `SELECT t.id, s.last_id >= :settled OR m.id IS NOT NULL AS is_due
   FROM (SELECT id FROM teams WHERE id > :after ORDER BY id LIMIT :limit) t
   CROSS JOIN LATERAL (SELECT ${sqlLastId('t.id')}::uuid AS last_id OFFSET 0) s
   LEFT JOIN LATERAL (
     SELECT m.id FROM messages m WHERE m.team_id = t.id AND m.id > s.last_id AND m.id < :settled
     ORDER BY m.team_id, m.id LIMIT 1 OFFSET :messages::int - 1
   ) m ON true
   ORDER BY t.id`,
).rows;

/**
 * True if a transaction that writes began before a time. It may hold a message whose id is settled, such as while its
 * commit waits for a standby.
 */
export const hasOldWrite = query<{ before: Date }>(
  'search.old-writes',
  `SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND backend_xid IS NOT NULL AND xact_start < :before LIMIT 1`,
).hasRow;

/** Key of the advisory locks of teams: who signs holds it exclusively, and an erasure shared. */
const lockOfTeam = `1_936_024_434, hashtext(:teamId::text)`.replaceAll('_', '');

/** Locks the segments of a team for a signer. @returns false while an erasure or another process holds them */
export const lockToSign = transactionQuery<{ teamId: TeamId }>(
  'search.lock-to-sign',
  `SELECT FROM (SELECT pg_try_advisory_xact_lock(${lockOfTeam}) AS is_free) AS lock WHERE is_free`,
).hasRow;

/** Keeps signers from reading the texts that the transaction erases. */
export const lockToErase = transactionQuery<{ teamId: TeamId }>(
  'search.lock-to-erase',
  `SELECT pg_advisory_xact_lock_shared(${lockOfTeam})`,
).run;

/** Settled messages without a segment, the oldest first. */
export const listUnsigned = transactionQuery<{ teamId: TeamId; settled: string; limit: number }, SearchedRow>(
  'search.unsigned',
  `SELECT ${searched} FROM (SELECT ${sqlLastId(':teamId')}::uuid AS last_id OFFSET 0) s
   CROSS JOIN LATERAL (
     SELECT m.id, m.content, m.direction, m.from_handle, m.to_handle FROM messages m
     WHERE m.team_id = :teamId AND m.id > s.last_id AND m.id < :settled ORDER BY m.team_id, m.id LIMIT :limit
   ) m ORDER BY m.id`,
).rows;

export const insertSegment = transactionQuery<Segment & { teamId: TeamId; signature: Buffer }>(
  'search.insert-segment',
  'INSERT INTO message_segments (team_id, first_id, last_id, signature) VALUES (:teamId, :first_id, :last_id, :signature)',
).run;

/** Removes segments that a step back of the clock put into the future: messages between them may still come. */
export const removeFutureSegments = transactionQuery<{ teamId: TeamId; settled: string }>(
  'search.remove-future',
  `DELETE FROM message_segments WHERE team_id = :teamId AND last_id = ANY (ARRAY(
     SELECT s.last_id FROM message_segments s WHERE s.team_id = :teamId AND s.last_id >= :settled
     ORDER BY s.team_id, s.last_id LIMIT 1000))`,
).run;

/** Empties the signatures of the segments that have these messages. */
export const emptySegments = transactionQuery<{ teamId: TeamId; ids: readonly MessageId[] }>(
  'search.empty-segments',
  `UPDATE message_segments SET signature = '' WHERE team_id = :teamId AND signature <> '' AND last_id = ANY (ARRAY(
     SELECT s.last_id FROM unnest(:ids::uuid[]) AS i (id) CROSS JOIN LATERAL (
       SELECT s.first_id, s.last_id FROM message_segments s WHERE s.team_id = :teamId AND s.last_id >= i.id
       ORDER BY s.team_id, s.last_id LIMIT 1
     ) s WHERE s.first_id <= i.id))`,
).run;

/** Segments whose signatures an erasure emptied. */
export const listEmptied = query<{ limit: number }, Segment & { team_id: TeamId }>(
  'search.emptied',
  `SELECT team_id, first_id, last_id FROM message_segments WHERE signature = '' ORDER BY team_id, last_id LIMIT :limit`,
).rows;

export const saveSignature = transactionQuery<{ teamId: TeamId; last_id: string; signature: Buffer }>(
  'search.save-signature',
  'UPDATE message_segments SET signature = :signature WHERE team_id = :teamId AND last_id = :last_id',
).run;

/** Deletes the segments of a range of ids that have no message any more. */
export const removeSegmentsWithout = transactionQuery<{ teamId: TeamId; least: string; greatest: string }>(
  'search.purge-segments',
  `DELETE FROM message_segments s WHERE s.team_id = :teamId AND s.last_id >= :least AND s.last_id <= ${sqlLastAt(':greatest')}
     AND NOT EXISTS (SELECT FROM messages m WHERE m.team_id = s.team_id AND m.id BETWEEN s.first_id AND s.last_id OFFSET 0)`,
).run;

export const measureIndex = query<object, { bytes: number }>(
  'search.size',
  "SELECT pg_total_relation_size('message_segments') AS bytes",
).number;
