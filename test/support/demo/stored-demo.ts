import { columnBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** The number of rows of each table. */
export async function countRowsOfTables({ query }: Service): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of await listTableNames({ query })) {
    const [row] = await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${name}`);
    counts[name] = row?.count ?? 0;
  }
  return counts;
}

/** Tables with at least one row that has one of these ids in a column of type uuid. */
export async function listTablesNaming({ query }: Service, ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of await listTableNames({ query })) {
    const columns = await query<{ column: string }>(
      `SELECT attname AS column FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND atttypid = 'uuid'::regtype`,
      [name],
    );
    if (columns.length === 0) continue;
    const condition = columns.map(({ column }) => `${column} = ANY ($1::uuid[])`).join(' OR ');
    if ((await query(`SELECT FROM ${name} WHERE ${condition} LIMIT 1`, [ids])).length > 0) found.push(name);
  }
  return found;
}

const listTableNames = columnBy<string>(
  `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`,
);

/** The ids of a team, its numbers, messages, members and accounts. */
export const storedIdsOfTeam = columnBy<string, [teamId: string]>(
  `SELECT $1::uuid AS id UNION SELECT id FROM numbers WHERE team_id = $1 UNION SELECT id FROM messages WHERE team_id = $1
   UNION SELECT id FROM members WHERE team_id = $1 UNION SELECT account_id FROM members WHERE team_id = $1`,
);

/** Counts messages again and again until the signal aborts. @returns the counts */
export async function countMessagesUntil({ query }: Service, signal: AbortSignal): Promise<Set<number>> {
  const seen = new Set<number>();
  while (!signal.aborted) {
    const [row] = await query<{ count: number }>('SELECT count(*)::int AS count FROM messages');
    seen.add(row?.count ?? 0);
  }
  return seen;
}

/** Makes each deletion from hand_outs take some seconds, as in a large table. @returns a function that ends this */
export async function makeDeletionSlow(service: TestService, seconds: number): Promise<() => Promise<void>> {
  await service.query(`CREATE FUNCTION read_slowly() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END $$`);
  await service.query(
    'CREATE TRIGGER reads_slowly BEFORE DELETE ON hand_outs FOR EACH STATEMENT EXECUTE FUNCTION read_slowly()',
  );
  return async () => void (await service.query('DROP FUNCTION read_slowly CASCADE'));
}
