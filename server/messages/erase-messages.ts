import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import { removeMediaOf } from '#server/media/media-store.ts';
import type { ErasureRow } from '#server/opt-outs/erasure-store.ts';
import { firstIdAt, type MessageId, type TeamId } from '#server/platform/ids/ids.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { idempotencyKeyMs } from './limits.ts';
import { sqlIsFinished } from './message-status.ts';

/** How many rows an erasure has to change. */
export interface ErasureCounts {
  readonly messages: number;
  /** How many of the messages wait for a phone. */
  readonly waiting: number;
  readonly in_flight: number;
  readonly files: number;
  readonly events: number;
}

/** SQL of the messages of team $1 to a contact that wait for a phone, up to the id $3. */
const waitingOfContact = (contact: string, limit: string) =>
  `SELECT q.message_id FROM numbers n
   CROSS JOIN LATERAL (
     SELECT message_id FROM send_queue WHERE number_id = n.id AND to_handle = ${contact} AND message_id <= $3 LIMIT ${limit}
   ) q
   WHERE n.team_id = $1 LIMIT ${limit}`;

/** SQL of the messages with a contact, by its spellings $2, up to the id $3. It reads along the indexes of handles. */
const ofContact = `unnest($2::text[]) AS h (handle) CROSS JOIN LATERAL (
     SELECT m.id, m.last_event_sequence FROM messages m
     WHERE m.team_id = $1 AND m.to_handle = h.handle AND m.direction = 'outbound' AND m.id <= $3
     UNION ALL
     SELECT m.id, m.last_event_sequence FROM messages m
     WHERE m.team_id = $1 AND m.from_handle = h.handle AND m.direction = 'inbound' AND m.id <= $3
   ) m`;

// Each count stops at $4. Events are counted by the column last_event_sequence of their messages.
const count = statement<[TeamId, readonly string[], MessageId, number, string], ErasureCounts>(
  'messages.count-of-contact',
  `WITH found AS MATERIALIZED (SELECT m.id, m.last_event_sequence FROM ${ofContact} LIMIT $4::int)
   SELECT count(*) AS messages,
     (SELECT count(*) FROM (${waitingOfContact('$5', '$4')}) q) AS waiting,
     (SELECT count(*) FROM (
       SELECT FROM numbers n
       CROSS JOIN LATERAL (SELECT message_id FROM in_flight WHERE number_id = n.id OFFSET 0) f
       CROSS JOIN LATERAL (
         SELECT FROM messages m WHERE m.team_id = $1 AND m.id BETWEEN f.message_id AND f.message_id AND m.id <= $3
           AND m.to_handle = ANY ($2) ORDER BY m.team_id, m.id LIMIT 1
       ) m
       WHERE n.team_id = $1 LIMIT $4
     ) p) AS in_flight,
     least(coalesce(sum((SELECT count(*) FROM media f WHERE f.message_id = m.id AND f.is_complete)), 0), $4)::int AS files,
     least(coalesce(sum(m.last_event_sequence), 0), $4)::int AS events
   FROM found m`,
);
const findLeft = statement<[TeamId, readonly string[], MessageId]>(
  'messages.find-of-contact',
  `SELECT m.id FROM ${ofContact} LIMIT 1`,
);
const listWaiting = statement<[TeamId, string, MessageId, number], { message_id: MessageId }>(
  'messages.list-waiting-of-contact',
  waitingOfContact('$2', '$4'),
);

type FinishedRange = [teamId: TeamId, handle: string, after: string, until: MessageId, limit: number];
const lockFinished = (column: 'to_handle' | 'from_handle', direction: 'outbound' | 'inbound') =>
  `SELECT m.id FROM messages m
   WHERE m.team_id = $1 AND m.${column} = $2 AND m.direction = '${direction}' AND m.id > $3 AND m.id <= $4 AND ${sqlIsFinished('m')}
   ORDER BY m.team_id, m.${column}, m.id LIMIT $5 FOR NO KEY UPDATE SKIP LOCKED`;
const lockSent = transactionStatement<FinishedRange, { id: MessageId }>(
  'messages.lock-sent-to-handle',
  lockFinished('to_handle', 'outbound'),
);
const lockReceived = transactionStatement<FinishedRange, { id: MessageId }>(
  'messages.lock-received-from-handle',
  lockFinished('from_handle', 'inbound'),
);
// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const erase = transactionStatement<[TeamId, MessageId[], MessageId | undefined, MessageId | undefined]>(
  'messages.erase',
  `UPDATE messages m SET content = '', media_url = NULL, device_error = NULL,
     from_handle = CASE m.direction WHEN 'inbound' THEN '' ELSE m.from_handle END,
     to_handle = CASE m.direction WHEN 'outbound' THEN '' ELSE m.to_handle END
   FROM unnest($2::uuid[]) AS i (id)
   WHERE m.team_id = $1 AND m.id = i.id AND m.id BETWEEN $3 AND $4`,
  { changes: 'message', team: '$1', ids: '$2' },
);
// The order makes a plan of the empty table use the index of handles.
const listErasedSends = statement<[TeamId, after: string, until: MessageId], { id: MessageId }>(
  'messages.list-erased-sends',
  `SELECT m.id FROM messages m WHERE m.team_id = $1 AND m.to_handle = '' AND m.id > $2 AND m.id <= $3
   ORDER BY m.team_id, m.to_handle, m.id`,
);
// Keeps the idempotency key of an erased send without its message. A repeat of the send would send the text again, so
// it is refused for the rest of the key's day.
const eraseKeys = transactionStatement<[TeamId, MessageId[]]>(
  'messages.erase-idempotency-keys',
  `UPDATE idempotency_keys SET fingerprint = '' WHERE team_id = $1 AND message_id = ANY($2::uuid[]) AND fingerprint <> ''
   RETURNING key`,
);
const eraseFingerprints = transactionStatement<[TeamId, MessageId[]]>(
  'messages.erase-inbound-fingerprints',
  `DELETE FROM inbound_fingerprints f USING numbers n
   WHERE n.team_id = $1 AND f.number_id = n.id AND f.message_id = ANY($2::uuid[]) RETURNING f.message_id`,
);
// Keeps a conversation with a message after the id $3, because it has begun anew.
const eraseConversation = transactionStatement<[TeamId, string, MessageId]>(
  'messages.erase-conversations',
  `DELETE FROM conversations c USING numbers n
   WHERE n.team_id = $1 AND c.number_id = n.id AND c.contact = $2 AND c.last_message_id <= $3 RETURNING c.contact`,
);
const eraseHandOuts = transactionStatement<[TeamId, string, MessageId]>(
  'messages.erase-recent-hand-outs',
  // Reads number by number; each has at most the hand-outs of a day.
  `UPDATE recent_hand_outs SET contact = '' WHERE ctid = ANY (ARRAY(
     SELECT o.place FROM numbers n
     CROSS JOIN LATERAL (
       SELECT r.ctid AS place FROM recent_hand_outs r
       WHERE r.number_id = n.id AND r.contact = $2 AND r.message_id <= $3 ORDER BY r.number_id, r.ordinal
     ) o
     WHERE n.team_id = $1
   )) RETURNING ordinal`,
);

type Contact = Pick<ErasureRow, 'team_id' | 'contact' | 'handles' | 'until_id'>;

/**
 * Counts the rows that an erasure has to change, up to a maximum. Events and files are those of the counted messages.
 */
export async function countMessagesOfContact(
  db: Queryable,
  { team_id, contact, handles, until_id }: Contact,
  max: number,
): Promise<ErasureCounts> {
  const row = await count.row(db, team_id, handles, until_id, max, contact);
  if (!row) throw new Error('the count of messages to erase returned no row');
  return row;
}

/** True if a message with the contact is still to be erased. */
export async function hasMessagesOfContact(
  db: Queryable,
  { team_id, handles, until_id }: Contact,
): Promise<boolean> {
  return findLeft.hasRow(db, team_id, handles, until_id);
}

/** Lists the messages to the contact that wait for a phone. */
export async function listWaitingOfContact(
  db: Queryable,
  { team_id, contact, until_id }: Contact,
  limit: number,
): Promise<MessageId[]> {
  const rows = await listWaiting.rows(db, team_id, contact, until_id, limit);
  return rows.map((row) => row.message_id);
}

/** Messages of one direction with one spelling of a contact, in the order of their ids. */
export interface MessagesOfHandle {
  readonly direction: 'outbound' | 'inbound';
  readonly handle: string;
  /** Only messages with greater ids are read. */
  readonly after: string;
  readonly until: MessageId;
}

/**
 * Erases the next finished messages: handles, texts, files, and the fingerprints that recognize repeats.
 * @returns their ids; fewer than `limit` if no more are left
 */
export async function eraseMessages(
  trx: Transaction,
  teamId: TeamId,
  { direction, handle, after, until }: MessagesOfHandle,
  limit: number,
): Promise<MessageId[]> {
  const lock = direction === 'outbound' ? lockSent : lockReceived;
  const ids = (await lock.rows(trx, teamId, handle, after, until, limit)).map((row) => row.id);
  if (ids.length === 0) return ids;
  await removeMediaOf(trx, ids);
  await erase.run(trx, teamId, ids, ids[0], ids.at(-1));
  if (direction === 'inbound') await eraseFingerprints.run(trx, teamId, ids);
  return ids;
}

/**
 * Makes repeats of the erased sends of the last 24 hours be refused. It reads all idempotency keys of the team, so an
 * erasure calls it once, at its end.
 */
export async function eraseIdempotencyKeys(
  trx: Transaction,
  { team_id, until_id }: Contact,
  clock: Pick<Clock, 'expiryNow'>,
): Promise<void> {
  const since = firstIdAt(clock.expiryNow().getTime() - idempotencyKeyMs);
  const sends = await listErasedSends.rows(trx, team_id, since, until_id);
  if (sends.length > 0)
    await eraseKeys.run(
      trx,
      team_id,
      sends.map(({ id }) => id),
    );
}

/**
 * Deletes the conversations with a contact, and removes the contact from the recent hand-outs, which pacing goes on
 * counting.
 */
export async function eraseConversations(
  trx: Transaction,
  { team_id, contact, until_id }: Contact,
): Promise<void> {
  await eraseConversation.run(trx, team_id, contact, until_id);
  await eraseHandOuts.run(trx, team_id, contact, until_id);
}
