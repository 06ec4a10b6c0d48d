import type { Transaction } from '#server/database/statement.ts';
import type { TestService } from './test-service.ts';

/** Makes every statement that names a table fail until it is restored. */
export async function takeTableAway(
  { query }: Pick<TestService, 'query'>,
  table: 'hand_outs',
): Promise<{ readonly restore: () => Promise<void> }> {
  await query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  return { restore: async () => void (await query(`ALTER TABLE ${table}_away RENAME TO ${table}`)) };
}

/** A statement that PostgreSQL refuses: the transaction can only end with ROLLBACK. */
export async function failStatement(trx: Transaction): Promise<void> {
  await trx.query('SELECT 1 / 0');
}
