import { sharedQuery } from '#server/platform/concurrency/shared-query.ts';
import type { Runtime } from './runtime.ts';
import { statement } from './statement.ts';

/** Sorts more than it may hold in memory, so that PostgreSQL has to write a temporary file of 116 KB. */
const writeFile = statement<{ bytes: number }>(
  'database.readiness',
  `SELECT sum(length(line))::int AS bytes
   FROM (SELECT n, repeat('x', 200) || n AS line FROM generate_series(1, 500) AS n ORDER BY n DESC OFFSET 0) AS sorted`,
);
const littleMemory = statement<{ work_mem: string }>(
  'database.readiness-memory',
  "SELECT set_config('work_mem', '64kB', true) AS work_mem",
);

/** Any number of callers share one look at the database per second (specification section 10.4). */
const keptMs = 1_000;

/** Resolves where the database answers and can write. */
export function createReadiness({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): () => Promise<void> {
  return sharedQuery(clock, keptMs, () =>
    database.transaction(async (trx) => {
      await littleMemory.row(trx);
      await writeFile.row(trx);
    }),
  );
}
