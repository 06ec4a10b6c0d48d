import type { Runtime } from '#server/database/runtime.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { MessageId, OptOutId, TeamId } from '#server/platform/ids/ids.ts';
import type { OptOutRow } from './opt-out-store.ts';

type Services = Pick<Runtime, 'secrets'>;

const remove = transactionStatement<[TeamId, string], OptOutRow>(
  'opt-outs.erase',
  `DELETE FROM opt_outs WHERE team_id = $1 AND contact = $2
   RETURNING team_id, contact, id, sequence, opted_out_at, opted_in_at, message_id, phone_number, request_id`,
  { changes: 'opt_out', team: '$1', ids: 'id' },
);
const mark = transactionStatement<[TeamId]>(
  'opt-outs.mark-team',
  'UPDATE teams SET has_erased_opt_outs = true WHERE id = $1 AND NOT has_erased_opt_outs',
);
const insert = transactionStatement<
  [TeamId, Buffer<ArrayBufferLike>, OptOutId, number, Date, MessageId | null, string | null, string | null]
>(
  'opt-outs.insert-erased',
  `INSERT INTO erased_opt_outs (team_id, contact_hash, id, sequence, opted_out_at, message_id, phone_number, request_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (team_id, contact_hash) DO NOTHING`,
);
const find = statement<[TeamId, Buffer<ArrayBufferLike>], { opted_out_at: Date }>(
  'opt-outs.find-erased',
  'SELECT opted_out_at FROM erased_opt_outs WHERE team_id = $1 AND contact_hash = $2',
);
const restore = transactionStatement<[TeamId, Buffer<ArrayBufferLike>, string], { id: string }>(
  'opt-outs.restore-erased',
  `WITH back AS (DELETE FROM erased_opt_outs WHERE team_id = $1 AND contact_hash = $2 RETURNING *)
   INSERT INTO opt_outs (team_id, contact, id, sequence, opted_out_at, message_id, phone_number, request_id)
   SELECT team_id, $3, id, sequence, opted_out_at, message_id, phone_number, request_id FROM back
   ON CONFLICT (team_id, contact) DO NOTHING RETURNING id`,
  { changes: 'opt_out', team: '$1', ids: 'id' },
);

/**
 * The SQL condition that an erased contact of a team is opted out. It hashes the contact as `Secrets.contactHash` does.
 * OFFSET 0 makes it one look-up by the primary key per row.
 * @param inner SQL of the key's inner pad (RFC 2104) @param outer SQL of its outer pad
 */
export function sqlIsErasedOptOut(teamId: string, contact: string, inner: string, outer: string): string {
  const text = `convert_to(${teamId}::text || ' ' || ${contact}, 'UTF8')`;
  return `EXISTS (SELECT FROM erased_opt_outs o WHERE o.team_id = ${teamId}
    AND o.contact_hash = sha256(${outer}::bytea || sha256(${inner}::bytea || ${text})) OFFSET 0)`;
}

/**
 * Erases the handle from the opt-out of a contact. While the contact is opted out, a keyed hash replaces the row;
 * otherwise the row is deleted.
 * @returns undefined if the contact never opted out
 */
export async function eraseOptOut(
  trx: Transaction,
  { secrets }: Services,
  teamId: TeamId,
  contact: string,
): Promise<{ readonly events: number; readonly isOptedOut: boolean } | undefined> {
  const row = await remove.row(trx, teamId, contact);
  if (!row) return undefined;
  const isOptedOut = row.opted_in_at === null;
  if (isOptedOut) {
    const { id, sequence, opted_out_at, message_id, phone_number, request_id } = row;
    const hash = secrets.contactHash(teamId, contact);
    await insert.run(trx, teamId, hash, id, sequence, opted_out_at, message_id, phone_number, request_id);
    await mark.run(trx, teamId);
  }
  return { events: row.sequence, isOptedOut };
}

/** Finds the opt-out of an erased contact; undefined if the contact is not opted out. */
export function findErasedOptOut(
  db: Queryable,
  { secrets }: Services,
  teamId: TeamId,
  contact: string,
): Promise<{ readonly opted_out_at: Date } | undefined> {
  return find.row(db, teamId, secrets.contactHash(teamId, contact));
}

/** Stores the contact's handle in its erased opt-out again, because the contact wrote again or a request named it. */
export async function restoreOptOut(
  trx: Transaction,
  { secrets }: Services,
  teamId: TeamId,
  contact: string,
): Promise<void> {
  await restore.run(trx, teamId, secrets.contactHash(teamId, contact), contact);
}
