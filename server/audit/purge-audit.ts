import type { IdRange } from '#server/database/purge-walk.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';

// The trigger of the audit log lets this transaction delete entries with a smaller id.
const allow = transactionStatement<[before: string]>(
  'audit.allow-purge',
  "SELECT set_config('ownline.audit_purged_before', $1, true) AS before",
);

/** SQL that finds entries along the two indexes of the log: those of teams, and those of accounts without a team. */
const sqlEntries = (conditions: string, order: 'LIMIT 1' | 'LIMIT $3 FOR UPDATE SKIP LOCKED') =>
  ({
    ofTeams: `SELECT o.id, o.place FROM teams t CROSS JOIN LATERAL (
       SELECT l.id, l.ctid AS place FROM audit_log l WHERE l.team_id = t.id${conditions} ORDER BY l.team_id, l.id ${order}
     ) o`,
    ofAccounts: `SELECT o.id, o.place FROM accounts a CROSS JOIN LATERAL (
       SELECT l.id, l.ctid AS place FROM audit_log l WHERE l.account_id = a.id AND l.team_id IS NULL${conditions}
       ORDER BY l.account_id, l.id ${order}
     ) o`,
  }) as const;

const next = sqlEntries(' AND l.id >= $1', 'LIMIT 1');
const findNext = statement<[string], { readonly id: string }>(
  'audit.next',
  `SELECT id FROM (${next.ofTeams} UNION ALL ${next.ofAccounts}) o ORDER BY id LIMIT 1`,
);
const old = sqlEntries(' AND l.id >= $1 AND l.id < $2', 'LIMIT $3 FOR UPDATE SKIP LOCKED');
const sqlPurge = (found: string) =>
  `DELETE FROM audit_log WHERE ctid = ANY (ARRAY(SELECT place FROM (${found}) f LIMIT $3)) RETURNING id`;
const purgeOfTeams = transactionStatement<[string, string, number]>(
  'audit.purge-of-teams',
  sqlPurge(old.ofTeams),
);
const purgeOfAccounts = transactionStatement<[string, string, number]>(
  'audit.purge-of-accounts',
  sqlPurge(old.ofAccounts),
);

export async function findNextEntry(db: Queryable, from: string): Promise<string | undefined> {
  return (await findNext.row(db, from))?.id;
}

/** Retention of the audit log: deletes entries after AUDIT_DAYS (specification section 12.6). @returns the number deleted */
export async function purgeAudit(trx: Transaction, range: IdRange, limit: number): Promise<number> {
  await allow.run(trx, range.to);
  const deleted = await purgeOfTeams.count(trx, range.from, range.to, limit);
  if (deleted === limit) return limit;
  return deleted + (await purgeOfAccounts.count(trx, range.from, range.to, limit - deleted));
}
