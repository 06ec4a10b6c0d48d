import type { History, OldRow } from '#server/database/purge-walk.ts';
import { statement, transactionStatement } from '#server/database/statement.ts';

interface OldEntry extends OldRow {
  /** The place of the row, its ctid. */
  readonly place: string;
}

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
const findNext = statement<[string], OldRow>(
  'audit.next',
  `SELECT id FROM (${next.ofTeams} UNION ALL ${next.ofAccounts}) o ORDER BY id LIMIT 1`,
);
const old = sqlEntries(
  ' AND l.id >= $1 AND l.id < $2 AND l.id <> ALL ($4::uuid[])',
  'LIMIT $3 FOR UPDATE SKIP LOCKED',
);
type Batch = [from: string, to: string, limit: number, passedOver: readonly string[]];
const lockOfTeams = transactionStatement<Batch, OldEntry>(
  'audit.lock-old-of-teams',
  `${old.ofTeams} LIMIT $3`,
);
const lockOfAccounts = transactionStatement<Batch, OldEntry>(
  'audit.lock-old-of-accounts',
  `${old.ofAccounts} LIMIT $3`,
);
const remove = transactionStatement<[places: string[]]>(
  'audit.purge',
  'DELETE FROM audit_log WHERE ctid = ANY ($1::tid[])',
);

/** The history of the audit log. Its retention is AUDIT_DAYS (specification section 12.6). */
export const auditHistory: History<OldEntry> = {
  name: 'audit_log',
  findNext: async (db, from) => (await findNext.row(db, from))?.id,
  lock: async (trx, { from, to }, limit, passedOver) => {
    await allow.run(trx, to);
    const ofTeams = await lockOfTeams.rows(trx, from, to, limit, passedOver);
    if (ofTeams.length === limit) return ofTeams;
    return [...ofTeams, ...(await lockOfAccounts.rows(trx, from, to, limit - ofTeams.length, passedOver))];
  },
  remove: (trx, rows) =>
    remove.run(
      trx,
      rows.map(({ place }) => place),
    ),
};
