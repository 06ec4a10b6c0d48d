import type { TestService } from './test-service.ts';

/** Makes every statement that names a table fail until it is restored. */
export async function takeTableAway(
  { query }: Pick<TestService, 'query'>,
  table: 'hand_outs',
): Promise<{ readonly restore: () => Promise<void> }> {
  await query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  return { restore: async () => void (await query(`ALTER TABLE ${table}_away RENAME TO ${table}`)) };
}
