import pg from 'pg';
import type { TestService } from '#test/support/service/test-service.ts';

/** Makes every transaction of the service read-only, as on a standby, until `restore` is called. */
export async function makeReadOnly({
  databaseUrl,
}: Pick<TestService, 'databaseUrl'>): Promise<{ readonly restore: () => Promise<void> }> {
  const outside = new pg.Client({ connectionString: databaseUrl.replace(/\/\w+\?/, '/postgres?') });
  await outside.connect();
  const [, name = ''] = /\/(\w+)\?/.exec(databaseUrl) ?? [];
  const change = async (action: string) => {
    await outside.query(`ALTER DATABASE ${name} ${action}`);
    // Open connections keep their old setting, so they are ended.
    await outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  };
  await change('SET default_transaction_read_only = on');
  return {
    restore: async () => {
      await change('RESET default_transaction_read_only');
      await outside.end();
    },
  };
}
