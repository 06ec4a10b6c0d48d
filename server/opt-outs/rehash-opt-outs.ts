import { transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

interface HashRow {
  readonly team_id: TeamId;
  readonly contact: string;
  readonly contact_hash: string;
}

const beginning = { team_id: '00000000-0000-0000-0000-000000000000' as TeamId, contact: '' };

const list = transactionQuery<Pick<HashRow, 'team_id' | 'contact'>, HashRow>(
  'opt-outs.list-hashes',
  `SELECT team_id, contact, contact_hash FROM opt_outs
   WHERE contact IS NOT NULL AND (team_id, contact) > (:team_id, :contact) ORDER BY team_id, contact LIMIT 500`,
);
const update = transactionQuery<{ teamIds: TeamId[]; contacts: string[]; hashes: string[] }>(
  'opt-outs.update-hashes',
  `UPDATE opt_outs o SET contact_hash = n.contact_hash
   FROM unnest(:teamIds::uuid[], :contacts::text[], :hashes::uuid[]) AS n (team_id, contact, contact_hash)
   WHERE o.team_id = n.team_id AND o.contact = n.contact`,
);

/**
 * Hashes all contacts again if the first one has the hash of another secrets key. The operator then lost that key, and
 * made the database forget it (docs/operations.md). Erased contacts can't be hashed again.
 */
export async function rehashOptOuts({ database, secrets }: Runtime) {
  await database.transaction(async (trx) => {
    let rows = await list.rows(trx, beginning);
    for (;;) {
      const [first, last] = [rows[0], rows.at(-1)];
      if (!first || !last) return;
      const hashes = rows.map((row) => secrets.contactHash(row.team_id, row.contact));
      if (hashes[0] === first.contact_hash.replaceAll('-', '')) return;
      const [teamIds, contacts] = [rows.map((row) => row.team_id), rows.map((row) => row.contact)];
      await update.run(trx, { teamIds, contacts, hashes });
      rows = await list.rows(trx, last);
    }
  });
}
