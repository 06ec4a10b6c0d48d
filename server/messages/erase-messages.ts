import type { Erasure } from '#contract/erasure.ts';
import type { EventType } from '#contract/event.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import { removeMediaOf } from '#server/media/media-store.ts';
import { removeUploadsOf } from '#server/media/upload-store.ts';
import { listSpellings } from '#server/opt-outs/contact.ts';
import type { ErasureRow } from '#server/opt-outs/erasure-store.ts';
import { firstIdAt, type MessageId, type TeamId } from '#server/platform/ids.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { idempotencyKeyMs } from './limits.ts';
import type { MessageRow } from './message.ts';
import { deviceTextStart, sqlIsFinished } from './message-status.ts';
import { emptySegments, lockToErase } from './search/segment-store.ts';

/** Removes the contact's handle, the text and the media from a message (specification section 12.14). */
export function eraseMessageRow(message: MessageRow): MessageRow {
  return {
    ...message,
    ...(message.direction === 'inbound' ? { from_handle: '' } : { to_handle: '' }),
    content: '',
    media_url: null,
    device_error: null,
  };
}

/**
 * Removes the contact's handle, the text and the media from the `data` of an event. It also removes the phone's error
 * text, which may quote a handle.
 */
export function eraseEventData(
  type: EventType,
  data: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (type === 'contact.opted_out' || type === 'contact.opted_in') return { ...data, contact: '' };
  const erased = { ...data, content: '', media_url: null };
  const message =
    typeof data.error_message === 'string'
      ? { error_message: data.error_message.split(deviceTextStart)[0] }
      : {};
  return type === 'message.received' ? { ...erased, from: '' } : { ...erased, to: '', ...message };
}

type Contact = Pick<ErasureRow, 'team_id' | 'contact' | 'handles' | 'until_id'>;

/** SQL of a team's messages to a contact that wait for a phone. */
const waitingOfContact = `SELECT q.message_id FROM numbers n
   CROSS JOIN LATERAL (
     SELECT message_id FROM send_queue WHERE number_id = n.id AND to_handle = :contact AND message_id <= :until_id LIMIT :limit
   ) q
   WHERE n.team_id = :team_id LIMIT :limit`;

/** SQL of the messages with a contact, by its spellings. It reads along the indexes of handles. */
const ofContact = `unnest(:handles::text[]) AS h (handle) CROSS JOIN LATERAL (
     SELECT m.id, m.last_event_sequence FROM messages m
     WHERE m.team_id = :team_id AND m.to_handle = h.handle AND m.direction = 'outbound' AND m.id <= :until_id
     UNION ALL
     SELECT m.id, m.last_event_sequence FROM messages m
     WHERE m.team_id = :team_id AND m.from_handle = h.handle AND m.direction = 'inbound' AND m.id <= :until_id
   ) m`;

/**
 * Counts the rows that an erasure has to change; each count stops at `limit`. Events and files are those of the counted
 * messages. Events are counted by the column last_event_sequence.
 */
export const countMessagesOfContact = query<
  Contact & { limit: number },
  Omit<Erasure, 'opted_out' | 'status'>
>(
  'messages.count-of-contact',
  `WITH found AS MATERIALIZED (SELECT m.id, m.last_event_sequence FROM ${ofContact} LIMIT :limit::int)
   SELECT count(*) AS messages,
     (SELECT count(*) FROM (${waitingOfContact}) q) AS waiting,
     (SELECT count(*) FROM (
       SELECT FROM numbers n
       CROSS JOIN LATERAL (SELECT message_id FROM in_flight WHERE number_id = n.id OFFSET 0) f
       CROSS JOIN LATERAL (
         SELECT FROM messages m WHERE m.team_id = :team_id AND m.id BETWEEN f.message_id AND f.message_id AND m.id <= :until_id
           AND m.to_handle = ANY (:handles) ORDER BY m.team_id, m.id LIMIT 1
       ) m
       WHERE n.team_id = :team_id LIMIT :limit
     ) p) AS in_flight,
     least(coalesce(sum((SELECT count(*) FROM media f WHERE f.message_id = m.id AND f.is_complete)), 0), :limit)::int AS files,
     least(coalesce(sum(m.last_event_sequence), 0), :limit)::int AS events
   FROM found m`,
).one;

/** True if a message with the contact is still to be erased. */
export const hasMessagesOfContact = query<Omit<Contact, 'contact'>>(
  'messages.find-of-contact',
  `SELECT m.id FROM ${ofContact} LIMIT 1`,
).hasRow;

/** Lists the messages to the contact that wait for a phone. */
export const listWaitingOfContact = query<
  Omit<Contact, 'handles'> & { limit: number },
  { message_id: MessageId }
>('messages.list-waiting-of-contact', waitingOfContact).rows;

type FinishedRange = Omit<MessagesOfHandle, 'direction'> & { teamId: TeamId; limit: number };
const defineLock = (column: 'to_handle' | 'from_handle', direction: 'outbound' | 'inbound') =>
  transactionQuery<FinishedRange, { id: MessageId }>(
    `messages.lock-finished-${direction}`,
    `SELECT m.id FROM messages m
   WHERE m.team_id = :teamId AND m.${column} = :handle AND m.direction = '${direction}' AND m.id > :after AND m.id <= :until AND ${sqlIsFinished('m')}
   ORDER BY m.team_id, m.${column}, m.id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED`,
  );
const lockFinished = {
  outbound: defineLock('to_handle', 'outbound'),
  inbound: defineLock('from_handle', 'inbound'),
};
// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const erase = transactionQuery<{ teamId: TeamId; ids: MessageId[]; first: MessageId; last: MessageId }>(
  'messages.erase',
  `UPDATE messages m SET content = '', media_url = NULL, device_error = NULL,
     from_handle = CASE m.direction WHEN 'inbound' THEN '' ELSE m.from_handle END,
     to_handle = CASE m.direction WHEN 'outbound' THEN '' ELSE m.to_handle END
   FROM unnest(:ids::uuid[]) AS i (id)
   WHERE m.team_id = :teamId AND m.id = i.id AND m.id BETWEEN :first AND :last`,
  { changes: 'message', team: ':teamId', ids: ':ids' },
);
// ORDER BY makes PostgreSQL use the index of handles, even in a plan that was made while the table was empty.
const listErasedSends = query<Pick<Contact, 'team_id' | 'until_id'> & { since: string }, { id: MessageId }>(
  'messages.list-erased-sends',
  `SELECT m.id FROM messages m WHERE m.team_id = :team_id AND m.to_handle = '' AND m.id > :since AND m.id <= :until_id
   ORDER BY m.team_id, m.to_handle, m.id`,
);
// Keeps the idempotency key of an erased send without its message. A repeat of the send would send the text again, so
// it is refused for the rest of the key's day.
const eraseKeys = transactionQuery<{ team_id: TeamId; ids: MessageId[] }>(
  'messages.erase-idempotency-keys',
  `UPDATE idempotency_keys SET fingerprint = '' WHERE team_id = :team_id AND message_id = ANY(:ids::uuid[]) AND fingerprint <> ''`,
);
const eraseFingerprints = transactionQuery<{ teamId: TeamId; ids: MessageId[] }>(
  'messages.erase-inbound-fingerprints',
  `DELETE FROM inbound_fingerprints f USING numbers n
   WHERE n.team_id = :teamId AND f.number_id = n.id AND f.message_id = ANY(:ids::uuid[])`,
);
// Keeps a conversation with a later message, because it has begun anew.
const eraseConversation = transactionQuery<Omit<Contact, 'handles'>>(
  'messages.erase-conversations',
  `DELETE FROM conversations c USING numbers n
   WHERE n.team_id = :team_id AND c.number_id = n.id AND c.contact = :contact AND c.last_message_id <= :until_id`,
);
const eraseHandOuts = transactionQuery<Omit<Contact, 'handles'>>(
  'messages.erase-recent-hand-outs',
  // One phone number after the other: each has at most the hand-outs of a day.
  `UPDATE recent_hand_outs SET contact = '' WHERE ctid = ANY (ARRAY(
     SELECT o.place FROM numbers n
     CROSS JOIN LATERAL (
       SELECT r.ctid AS place FROM recent_hand_outs r
       WHERE r.number_id = n.id AND r.contact = :contact AND r.message_id <= :until_id ORDER BY r.number_id, r.ordinal
     ) o
     WHERE n.team_id = :team_id
   ))`,
);

/** Messages of one direction with one spelling of a contact, in the order of their ids. */
export interface MessagesOfHandle {
  readonly direction: 'outbound' | 'inbound';
  readonly handle: string;
  /** Only messages with greater ids are read. */
  readonly after: string;
  readonly until: MessageId;
}

/**
 * Erases the next finished messages: handles, texts, files, signatures of the search index, and the fingerprints that
 * recognize repeats.
 * @returns their ids; fewer than `limit` if no more are left
 */
export async function eraseMessages(
  trx: Transaction,
  teamId: TeamId,
  { direction, handle, after, until }: MessagesOfHandle,
  limit: number,
): Promise<MessageId[]> {
  await lockToErase(trx, { teamId });
  const locked = await lockFinished[direction].rows(trx, { teamId, handle, after, until, limit });
  const ids = locked.map((row) => row.id);
  const [first, last] = [ids[0], ids.at(-1)];
  if (!first || !last) return ids;
  await removeUploadsOf(trx, { messageIds: ids });
  await removeMediaOf(trx, { messageIds: ids });
  await erase.run(trx, { teamId, ids, first, last });
  await emptySegments(trx, { teamId, ids });
  if (direction === 'inbound') await eraseFingerprints.run(trx, { teamId, ids });
  return ids;
}

/**
 * Keeps the idempotency keys of erased sends of the last 24 hours, so that repeats of these sends are refused. It reads
 * all keys of the team, so an erasure calls it once, at its end.
 */
export async function eraseIdempotencyKeys(
  trx: Transaction,
  { team_id, until_id }: Contact,
  clock: Pick<Clock, 'expiryNow'>,
): Promise<void> {
  const since = firstIdAt(clock.expiryNow().getTime() - idempotencyKeyMs);
  const ids = (await listErasedSends.rows(trx, { team_id, since, until_id })).map(({ id }) => id);
  if (ids.length > 0) await eraseKeys.run(trx, { team_id, ids });
}

/**
 * Deletes the conversations with a contact, and removes the contact from the recent hand-outs. These stay, because
 * pacing counts them.
 */
export async function eraseConversations(trx: Transaction, contact: Contact): Promise<void> {
  await eraseConversation.run(trx, contact);
  await eraseHandOuts.run(trx, contact);
}

const ofConversations = query<{ teamId: TeamId; contact: string }, { handle: string }>(
  'messages.handles-of-contact',
  `SELECT DISTINCT h.handle FROM numbers n JOIN conversations c ON c.number_id = n.id AND c.contact = :contact
   CROSS JOIN unnest(c.handles) AS h (handle) WHERE n.team_id = :teamId`,
);

/**
 * Lists all spellings of a contact that the team's messages may have. Only a phone number has several, because a sent
 * message keeps the spelling of its request.
 */
export async function listHandlesOfContact(
  db: Queryable,
  teamId: TeamId,
  contact: string,
): Promise<string[]> {
  const kept = await ofConversations.rows(db, { teamId, contact });
  return [...new Set([...listSpellings(contact), ...kept.map(({ handle }) => handle)])];
}
