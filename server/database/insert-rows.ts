import { quoteName } from './backup/backup-tables.ts';
import type { Transaction } from './statement.ts';

/**
 * Inserts made-up rows of a table in one statement. Columns that no row has get their defaults. PostgreSQL reads the
 * values from JSON: a time is a text, and bytes are a text such as `\x00ff`.
 */
export async function insertRows(trx: Transaction, table: string, rows: readonly object[]): Promise<void> {
  const columns = [...new Set(rows.flatMap(Object.keys))].map(quoteName).join(', ');
  const name = quoteName(table);
  await trx.query(
    `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, $1)`,
    [JSON.stringify(rows)],
  );
}
