/** Source of a test file that crashes a process of the shared PostgreSQL and fails, the first `times` times. */
export const crashingFile = (times: number): string => `
  import { existsSync, writeFileSync } from 'node:fs';
  import { test } from 'node:test';
  import pg from '${import.meta.resolve('pg')}';
  test('a test crashes PostgreSQL', async () => {
    const mark = [...Array(${times}).keys()].map((n) => import.meta.filename + n).find((name) => !existsSync(name));
    if (mark === undefined) return;
    writeFileSync(mark, '');
    const [client, other] = [1, 2].map(() => new pg.Client({ connectionString: process.env.TEST_ENGINE_URL }));
    for (const each of [client, other]) each.on('error', () => {});
    await Promise.all([client.connect(), other.connect()]);
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    const crash = client.query('SELECT pg_sleep(60)');
    const isActive = "SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE '%pg_sleep%'";
    while ((await other.query(isActive, [rows[0].pid])).rowCount === 0);
    process.kill(rows[0].pid, 'SIGSEGV');
    await crash;
  });
`;
