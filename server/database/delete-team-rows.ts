import type { AccountId, TeamId } from '#server/platform/ids.ts';
import type { Transaction } from './query.ts';
import { type DeclaredTable, listTables, quoteName } from './tables.ts';

/** The ids by which rows belong to teams that are deleted. */
export interface TeamRowIds {
  readonly teams: readonly TeamId[];
  /** Accounts that are deleted with the teams. */
  readonly accounts: readonly AccountId[];
}

/**
 * How long each statement may run. The pool's time-out is too short for large tables: some conditions and foreign keys
 * have no index, so PostgreSQL reads whole tables.
 */
const deletionTimeoutMs = 30 * 60_000;
const clientTimeoutMs = deletionTimeoutMs + 2_000;

/**
 * Deletes all rows of teams, and of accounts that go with them, from all tables of the catalogue. So a new table needs
 * no change here: its declaration says whether a row belongs to a team or an account. The tables of `keptByMessage`
 * have a condition that reads messages. Their rows are deleted first, and so are those of the audit log, whose trigger
 * looks accounts up.
 * @returns the number of deleted rows
 */
export async function deleteTeamRows(trx: Transaction, ids: TeamRowIds): Promise<number> {
  const tables = (await listTables(trx)).reverse();
  const isFirst = ({ name }: { readonly name: string }) => name === 'audit_log' || keptByMessage.has(name);
  await trx.query(`SET LOCAL statement_timeout = ${deletionTimeoutMs}`);
  let deleted = 0;
  for (const table of [...tables.filter(isFirst), ...tables.filter((other) => !isFirst(other))]) {
    const found = conditionOf(table, ids);
    if (!found) continue;
    const text = `DELETE FROM ${quoteName(table.name)} WHERE ${found.sql}`;
    // The client of pg has a time-out of its own, for each query.
    const query = { text, values: [...found.values], query_timeout: clientTimeoutMs };
    const { rowCount } = await trx.query(query);
    deleted += rowCount ?? 0;
  }
  return deleted;
}

/** Tables without an index by team: their keys begin with the message. */
const keptByMessage: ReadonlySet<string> = new Set(['hand_outs', 'media', 'media_chunks']);

function conditionOf({ name: table, declaration }: DeclaredTable, ids: TeamRowIds) {
  const { teams, accounts } = ids;
  const by = (column: string, values: readonly string[]) => ({
    sql: `${column} = ANY ($1::uuid[])`,
    values: [values],
  });
  if (table === 'teams') return by('id', teams);
  if (table === 'accounts') return by('id', accounts);
  if (table === 'audit_log') {
    const sql = 'team_id = ANY ($1::uuid[]) OR team_id IS NULL AND account_id = ANY ($2::uuid[])';
    return { sql, values: [teams, accounts] };
  }
  if (keptByMessage.has(table))
    return {
      sql: `message_id IN (SELECT id FROM messages WHERE team_id = ANY ($1::uuid[]))${
        table === 'media' ? ' OR expires_at IS NOT NULL AND team_id = ANY ($1::uuid[])' : ''
      }`,
      values: [teams],
    };
  if (declaration.scope === 'team') return by('team_id', teams);
  return declaration.scope === 'account' ? by('account_id', accounts) : undefined;
}
