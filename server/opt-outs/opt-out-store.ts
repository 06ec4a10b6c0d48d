import type { OptOut } from '#contract/opt-out.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type MessageId, type OptOutId, publicId, type TeamId } from '#server/platform/ids.ts';

/** The primary key of an opt-out, which is known also without the handle. */
interface OptOutKey {
  readonly teamId: TeamId;
  /** From `Secrets.contactHash`. */
  readonly contactHash: string;
}

/** The key of an opt-out, with the normalized handle of its contact. */
export interface NamedKey extends OptOutKey {
  readonly contact: string;
}

/** The latest opt-out of a contact, which may have opted in again since. */
export interface OptOutRow<Contact = string> {
  readonly team_id: TeamId;
  /** The normalized handle; null in the opt-out of an erased contact, which only look-ups by hash find. */
  readonly contact: Contact;
  /** The id of the latest opt-out. */
  readonly id: OptOutId;
  /** Number of the contact's opt-outs and opt-ins so far. */
  readonly sequence: number;
  readonly opted_out_at: Date;
  /** When the contact opted in again; null while the contact is opted out. */
  readonly opted_in_at: Date | null;
  /** When a START came that did not opt the contact in; null if none did since the opt-out. */
  readonly ignored_start_at: Date | null;
  /** The inbound message with the keyword, and the number that received it; null for an opt-out by request. */
  readonly message_id: MessageId | null;
  readonly phone_number: string | null;
  /** `req_…` of the request; null for an opt-out by message. */
  readonly request_id: string | null;
}

const columns =
  'o.team_id, o.contact, o.id, o.sequence, o.opted_out_at, o.opted_in_at, o.ignored_start_at, o.message_id, o.phone_number, o.request_id';

const ofHash = 'o.team_id = :teamId AND o.contact_hash = :contactHash';

// SQL condition: the contact is opted out. With IS NULL, a plan made for an empty table might use a partial index and
// read all opt-outs of the team. No index matches num_nulls, so a unique index is used.
const isStanding = 'num_nulls(o.opted_in_at) = 1';

const change = { changes: 'opt_out', team: ':teamId', ids: 'id' } as const;

/**
 * Inserts an opt-out. If the contact is opted out already, its row is locked and kept, so that the second of two
 * concurrent opt-outs finds the first.
 * @returns undefined, without a change, if the contact was opted out already
 */
export const insertOptOut = transactionQuery<
  NamedKey & {
    readonly id: OptOutId;
    readonly at: Date;
    readonly messageId: MessageId | null;
    readonly phoneNumber: string | null;
    readonly requestId: string | null;
  },
  OptOutRow
>(
  'opt-outs.opt-out',
  `INSERT INTO opt_outs AS o (team_id, contact_hash, contact, id, sequence, opted_out_at, message_id, phone_number, request_id)
   VALUES (:teamId, :contactHash, :contact, :id, 1, :at, :messageId, :phoneNumber, :requestId)
   ON CONFLICT (team_id, contact_hash) DO UPDATE SET id = excluded.id, sequence = o.sequence + 1,
     opted_out_at = excluded.opted_out_at, opted_in_at = NULL, ignored_start_at = NULL, message_id = excluded.message_id,
     phone_number = excluded.phone_number, request_id = excluded.request_id
   WHERE o.opted_in_at IS NOT NULL
   RETURNING ${columns}`,
  change,
).row;

/** Ends an opt-out. @returns undefined, without a change, if the contact was not opted out */
export const endOptOut = transactionQuery<NamedKey & { readonly at: Date }, OptOutRow>(
  'opt-outs.opt-in',
  `UPDATE opt_outs o SET contact = :contact, opted_in_at = :at, ignored_start_at = NULL, sequence = o.sequence + 1
   WHERE ${ofHash} AND ${isStanding} RETURNING ${columns}`,
  change,
).row;

/**
 * Notes a START that does not end the opt-out, because an equal one came before it.
 * @param equalAt when the earlier START came
 * @returns false if the contact is not opted out, or opted out before the earlier START
 */
export const ignoreStart = transactionQuery<
  OptOutKey & { readonly equalAt: Date; readonly at: Date },
  { id: OptOutId }
>(
  'opt-outs.ignore-start',
  `UPDATE opt_outs o SET ignored_start_at = :at WHERE ${ofHash} AND ${isStanding} AND o.opted_out_at > :equalAt RETURNING id`,
  change,
).hasRow;

/** Gives the opt-out of an erased contact its handle again, because the contact wrote again or a request named it. */
export const restoreContact = transactionQuery<NamedKey, { id: OptOutId }>(
  'opt-outs.restore-contact',
  `UPDATE opt_outs o SET contact = :contact WHERE ${ofHash} AND o.contact IS NULL RETURNING id`,
  change,
).run;

const lock = transactionQuery<OptOutKey, OptOutRow<string | null>>(
  'opt-outs.lock',
  `SELECT ${columns} FROM opt_outs o WHERE ${ofHash} FOR UPDATE`,
);
const eraseHandle = transactionQuery<OptOutKey, { id: OptOutId }>(
  'opt-outs.erase-handle',
  `UPDATE opt_outs o SET contact = NULL WHERE ${ofHash} RETURNING id`,
  change,
);
const remove = transactionQuery<OptOutKey, { id: OptOutId }>(
  'opt-outs.remove',
  `DELETE FROM opt_outs o WHERE ${ofHash} RETURNING id`,
  change,
);

/**
 * Erases the handle from the opt-out of a contact. While the contact is opted out, its row stays with the hash;
 * otherwise the row is deleted.
 * @returns how many events of the contact may contain its handle, and whether the contact is opted out
 */
export async function eraseOptOut(
  trx: Transaction,
  key: OptOutKey,
): Promise<{ readonly events: number; readonly isOptedOut: boolean }> {
  const row = await lock.row(trx, key);
  const isOptedOut = row?.opted_in_at === null;
  if (!row || row.contact === null) return { events: 0, isOptedOut };
  await (isOptedOut ? eraseHandle : remove).run(trx, key);
  return { events: row.sequence, isOptedOut };
}

/** Finds the opt-out of a contact that is not erased; undefined if the contact is not opted out. */
export const findOptOut = query<{ readonly teamId: TeamId; readonly contact: string }, OptOutRow>(
  'opt-outs.find',
  `SELECT ${columns} FROM opt_outs o WHERE o.team_id = :teamId AND o.contact = :contact AND ${isStanding}`,
).row;

/** Finds the opt-out of any contact; undefined if the contact is not opted out. */
export const findOptOutByHash = query<OptOutKey, OptOutRow<string | null>>(
  'opt-outs.find-by-hash',
  `SELECT ${columns} FROM opt_outs o WHERE ${ofHash} AND ${isStanding}`,
).row;

/** Lists contacts that are opted out and not erased, newest first. @param before only opt-outs with lower ids */
export const listOptOutRows = query<
  { readonly teamId: TeamId; readonly before: string; readonly limit: number },
  OptOutRow
>(
  'opt-outs.list',
  `SELECT ${columns} FROM opt_outs o
   WHERE o.team_id = :teamId AND o.id < :before AND o.opted_in_at IS NULL AND o.contact IS NOT NULL
   ORDER BY o.id DESC LIMIT :limit`,
).rows;

interface HashRow {
  readonly team_id: TeamId;
  readonly contact: string;
  readonly contact_hash: string;
}

const beginning = { team_id: '00000000-0000-0000-0000-000000000000' as TeamId, contact: '' };

const listHashes = transactionQuery<Pick<HashRow, 'team_id' | 'contact'>, HashRow>(
  'opt-outs.list-hashes',
  `SELECT team_id, contact, contact_hash FROM opt_outs
   WHERE contact IS NOT NULL AND (team_id, contact) > (:team_id, :contact) ORDER BY team_id, contact LIMIT 500`,
);
const updateHashes = transactionQuery<{ teamIds: TeamId[]; contacts: string[]; hashes: string[] }>(
  'opt-outs.update-hashes',
  `UPDATE opt_outs o SET contact_hash = n.contact_hash
   FROM unnest(:teamIds::uuid[], :contacts::text[], :hashes::uuid[]) AS n (team_id, contact, contact_hash)
   WHERE o.team_id = n.team_id AND o.contact = n.contact`,
);

/**
 * Hashes all contacts again if the first one was hashed with another secrets key. Then the operator lost that key, and
 * told the database to forget it (docs/operations.md). Erased contacts can't be hashed again.
 */
export async function rehashOptOuts({ database, secrets }: Runtime) {
  await database.transaction(async (trx) => {
    let rows = await listHashes.rows(trx, beginning);
    for (;;) {
      const [first, last] = [rows[0], rows.at(-1)];
      if (!first || !last) return;
      const hashes = rows.map((row) => secrets.contactHash(row.team_id, row.contact));
      if (hashes[0] === first.contact_hash.replaceAll('-', '')) return;
      const [teamIds, contacts] = [rows.map((row) => row.team_id), rows.map((row) => row.contact)];
      await updateHashes.run(trx, { teamIds, contacts, hashes });
      rows = await listHashes.rows(trx, last);
    }
  });
}

/**
 * The SQL condition that a contact of a team is opted out (decision 0027). A look-up by `contact` does not find erased
 * contacts. OFFSET 0 makes the planner look each row up by a unique index.
 */
export function sqlIsOptedOut(teamId: string, column: 'contact_hash' | 'contact', value: string): string {
  return `EXISTS (SELECT FROM opt_outs o WHERE o.team_id = ${teamId} AND o.${column} = ${value} AND ${isStanding} OFFSET 0)`;
}

/** An opt-out as /v1 shows it (specification section 4.6). */
export function optOutView(row: OptOutRow): OptOut {
  return {
    id: publicId('opt', row.id),
    contact: row.contact,
    phone_number: row.phone_number,
    message_id: row.message_id && publicId('msg', row.message_id),
    opted_out_at: row.opted_out_at.toISOString(),
    ignored_start_at: row.ignored_start_at?.toISOString() ?? null,
  };
}
