import type { Contact } from '#contract/contact.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import { type ContactId, publicId, type TeamId } from '#server/platform/ids.ts';
import { wordsOfContact } from './search-words.ts';

interface ContactKey {
  readonly teamId: TeamId;
  readonly contactId: ContactId;
}

/** A contact as a team writes it, with normalized handles. */
export interface WrittenContact {
  readonly id: ContactId;
  readonly name: string;
  readonly note: string;
  readonly handles: readonly string[];
}

interface ContactRow extends WrittenContact {
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = `c.id, c.name, c.note, c.created_at, c.updated_at, ARRAY(
     SELECT h.handle FROM contact_handles h WHERE h.team_id = c.team_id AND h.contact_id = c.id
     ORDER BY h.team_id, h.contact_id, h.position) AS handles`;

/** SQL that joins the contact of an id: a look-up of one row for each. */
const ofIds = (id: string) => `CROSS JOIN LATERAL (
     SELECT c.team_id, c.id, c.name, c.note, c.created_at, c.updated_at FROM contacts c
     WHERE c.team_id = :teamId AND c.id = ${id} OFFSET 0
   ) c`;

export const findContact = query<ContactKey, ContactRow>(
  'contacts.find',
  `SELECT ${columns} FROM contacts c WHERE c.team_id = :teamId AND c.id = :contactId`,
).row;

/** Lists the contacts of ids. */
export const listContactsById = query<{ teamId: TeamId; ids: readonly ContactId[] }, ContactRow>(
  'contacts.list-by-id',
  `SELECT ${columns} FROM unnest(:ids::uuid[]) AS i (id) ${ofIds('i.id')}`,
).rows;

/** Lists contacts, newest first. @param before only contacts with lower ids */
export const listContactRows = query<
  { readonly teamId: TeamId; readonly before: string; readonly limit: number },
  ContactRow
>(
  'contacts.list',
  `SELECT ${columns} FROM contacts c WHERE c.team_id = :teamId AND c.id < :before ORDER BY c.id DESC LIMIT :limit`,
).rows;

/** A search for contacts that have, for each term, a word that begins with one of its `words`; `terms` are beside these. */
interface ContactSearch {
  readonly teamId: TeamId;
  readonly words: readonly string[];
  readonly terms: readonly number[];
  readonly termCount: number;
  readonly before: string;
  readonly limit: number;
}

/** SQL of the words that begin as those of the search. @param condition which of them */
const matches = (
  condition = '',
) => `unnest(:words::text[], :terms::int[]) AS q (word, term) CROSS JOIN LATERAL (
       SELECT w.contact_id FROM contact_words w
       WHERE w.team_id = :teamId AND w.word >= q.word AND w.word < q.word || chr(1114111) ${condition} OFFSET 0
     ) f`;

const hasEachTerm = 'bit_or(1::bigint << q.term) = (1::bigint << :termCount) - 1';

/** Finds the contacts of a search among the newest ten times `limit`, newest first. It finds a page if a tenth fits. */
export const searchNewest = query<ContactSearch, ContactRow>(
  'contacts.search-newest',
  `SELECT ${columns} FROM (
     SELECT c.team_id, c.id, c.name, c.note, c.created_at, c.updated_at FROM contacts c
     WHERE c.team_id = :teamId AND c.id < :before ORDER BY c.id DESC LIMIT 10 * :limit::int
   ) c
   WHERE (SELECT ${hasEachTerm} FROM ${matches('AND w.contact_id = c.id')}) ORDER BY c.id DESC LIMIT :limit`,
).rows;

/** Finds the contacts of a search, newest first. It reads each row of contact_words that fits, twice at most. */
export const searchContactRows = query<ContactSearch, ContactRow>(
  'contacts.search',
  `SELECT ${columns} FROM (
     SELECT f.contact_id FROM ${matches()} WHERE f.contact_id < :before
     GROUP BY f.contact_id HAVING ${hasEachTerm} ORDER BY f.contact_id DESC LIMIT :limit
   ) f
   ${ofIds('f.contact_id')} ORDER BY c.id DESC`,
).rows;

/** Counts the contacts of a team. The caller holds the lock of the team, and a team has no more than `contactsMax`. */
export const countContacts = query<{ teamId: TeamId }, { contacts: number }>(
  'contacts.count',
  'SELECT count(*) AS contacts FROM contacts WHERE team_id = :teamId',
).number;

type ContactKeys = { readonly teamId: TeamId; readonly ids: readonly ContactId[] };

const removeHandles = transactionQuery<ContactKeys>(
  'contacts.remove-handles',
  'DELETE FROM contact_handles WHERE team_id = :teamId AND contact_id = ANY (:ids)',
).run;

const removeWords = transactionQuery<ContactKeys>(
  'contacts.remove-words',
  'DELETE FROM contact_words WHERE team_id = :teamId AND contact_id = ANY (:ids)',
).run;

const upsertContacts = transactionQuery<
  ContactKeys & { readonly names: readonly string[]; readonly notes: readonly string[]; readonly at: Date }
>(
  'contacts.upsert',
  `INSERT INTO contacts (team_id, id, name, note, created_at, updated_at)
   SELECT :teamId::uuid, i.id, i.name, i.note, :at::timestamptz, :at
   FROM unnest(:ids::uuid[], :names::text[], :notes::text[]) AS i (id, name, note)
   ON CONFLICT (team_id, id) DO UPDATE SET name = excluded.name, note = excluded.note, updated_at = excluded.updated_at`,
  { changes: 'contact', team: ':teamId', ids: ':ids' },
).run;

const insertHandles = transactionQuery<
  ContactKeys & { readonly handles: readonly string[]; readonly positions: readonly number[] }
>(
  'contacts.insert-handles',
  `INSERT INTO contact_handles (team_id, contact_id, handle, position)
   SELECT :teamId, i.id, i.handle, i.position
   FROM unnest(:ids::uuid[], :handles::text[], :positions::smallint[]) AS i (id, handle, position)`,
).run;

const insertWords = transactionQuery<ContactKeys & { readonly words: readonly string[] }>(
  'contacts.insert-words',
  `INSERT INTO contact_words (team_id, contact_id, word)
   SELECT :teamId, i.id, i.word FROM unnest(:ids::uuid[], :words::text[]) AS i (id, word) ON CONFLICT DO NOTHING`,
).run;

/**
 * Creates or replaces contacts, with their handles and words. The caller holds the lock of the team, and has seen that no
 * other contact has one of the handles.
 */
export async function writeContacts(
  trx: Transaction,
  teamId: TeamId,
  contacts: readonly WrittenContact[],
  at: Date,
): Promise<void> {
  const key = { teamId, ids: contacts.map(({ id }) => id) };
  await removeHandles(trx, key);
  await removeWords(trx, key);
  const names = contacts.map(({ name }) => name);
  await upsertContacts(trx, { ...key, names, notes: contacts.map(({ note }) => note), at });
  const handles = contacts.flatMap((contact) =>
    contact.handles.map((handle, position) => ({ id: contact.id, handle, position })),
  );
  await insertHandles(trx, {
    teamId,
    ids: handles.map(({ id }) => id),
    handles: handles.map(({ handle }) => handle),
    positions: handles.map(({ position }) => position),
  });
  const words = contacts.flatMap(({ id, name, handles: own }) =>
    wordsOfContact(name, own).map((word) => ({ id, word })),
  );
  await insertWords(trx, { teamId, ids: words.map(({ id }) => id), words: words.map(({ word }) => word) });
}

/** Deletes a contact with its handles and words. @returns false if the team has no such contact */
export const removeContact = transactionQuery<ContactKey, { id: ContactId }>(
  'contacts.remove',
  'DELETE FROM contacts WHERE team_id = :teamId AND id = :contactId RETURNING id',
  { changes: 'contact', team: ':teamId', ids: 'id' },
).hasRow;

/** The person that has a handle. */
interface NameOfHandle {
  readonly handle: string;
  readonly id: ContactId;
  readonly name: string;
}

const listNameRows = query<{ teamId: TeamId; handles: readonly string[] }, NameOfHandle>(
  'contacts.names',
  `SELECT i.handle, p.id, p.name FROM unnest(:handles::text[]) AS i (handle)
   CROSS JOIN LATERAL (
     SELECT h.contact_id FROM contact_handles h WHERE h.team_id = :teamId AND h.handle = i.handle OFFSET 0
   ) h
   CROSS JOIN LATERAL (
     SELECT p.id, p.name FROM contacts p WHERE p.team_id = :teamId AND p.id = h.contact_id OFFSET 0
   ) p`,
).rows;

/** Finds the people of normalized handles. @returns them by handle */
export async function findNames(
  db: Parameters<typeof listNameRows>[0],
  teamId: TeamId,
  handles: readonly string[],
): Promise<ReadonlyMap<string, NameOfHandle>> {
  const rows = handles.length === 0 ? [] : await listNameRows(db, { teamId, handles: [...new Set(handles)] });
  return new Map(rows.map((row) => [row.handle, row]));
}

/** The other handles of the contact that has a handle. */
export const listOtherHandles = query<{ teamId: TeamId; handle: string }, { handle: string }>(
  'contacts.other-handles',
  `SELECT h.handle FROM contact_handles i CROSS JOIN LATERAL (
     SELECT h.handle FROM contact_handles h WHERE h.team_id = :teamId AND h.contact_id = i.contact_id OFFSET 0
   ) h
   WHERE i.team_id = :teamId AND i.handle = :handle AND h.handle <> :handle`,
).rows;

/** The handles of a contact, in their order. */
export const listHandles = query<{ teamId: TeamId; contactId: ContactId }, { handle: string }>(
  'contacts.handles',
  `SELECT h.handle FROM contact_handles h WHERE h.team_id = :teamId AND h.contact_id = :contactId
   ORDER BY h.team_id, h.contact_id, h.position`,
).rows;

/** A contact as /v1 shows it (specification section 4.8). */
export function contactView({ id, name, note, handles, created_at, updated_at }: ContactRow): Contact {
  return {
    id: publicId('con', id),
    name,
    handles: [...handles],
    note,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
