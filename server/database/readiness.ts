import { setTimeout as pause } from 'node:timers/promises';
import { singleFlightQuery } from '#server/platform/concurrency/single-flight-query.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import type { Database } from './database.ts';
import { query, transactionQuery } from './query.ts';

/** Tests the disk: sorts more than fits into memory, so that PostgreSQL writes a temporary file of 116 KB. */
const writeFile = transactionQuery(
  'database.readiness',
  `SELECT sum(length(line))::int AS bytes
   FROM (SELECT n, repeat('x', 200) || n AS line FROM generate_series(1, 500) AS n ORDER BY n DESC OFFSET 0) AS sorted`,
).run;
const littleMemory = transactionQuery(
  'database.readiness-memory',
  "SELECT set_config('work_mem', '64kB', true) AS work_mem",
).run;

/**
 * Commits a record of the write-ahead log, which is flushed to the disk. The UPDATE matches no row, so no vacuum is
 * needed and no process waits for another. The statement fails if PostgreSQL is read-only, as on a standby.
 */
const writeLog = transactionQuery(
  'database.readiness-log',
  `WITH refused_while_read_only AS (UPDATE service_clock SET version = version WHERE false RETURNING version)
   SELECT pg_logical_emit_message(true, 'ownline', 'ready') FROM (SELECT count(*) FROM refused_while_read_only) AS none`,
).run;

const look = query('database.readiness-pool', 'SELECT 1 AS one').run;

/** All callers share one check of the database per second (specification section 10.4). */
const keptMs = 1_000;

/** How long a caller waits for the check, which a frozen standby holds up until its time-out. */
const answerMaxMs = 2_000;

/**
 * Creates a check that resolves if the database answers in each pool that phones and sends need, and can write temporary
 * files and a transaction.
 */
export function createReadiness(database: Database, clock: Clock): () => Promise<void> {
  const check = singleFlightQuery(clock, keptMs, async () => {
    const write = database.transaction(async (trx) => {
      await littleMemory(trx);
      await writeFile(trx);
      await writeLog(trx);
    });
    await Promise.all([write, look(database.hot), look(database.batches)]);
  });
  return () => Promise.race([check(), refuseLate()]);
}

async function refuseLate(): Promise<never> {
  await pause(answerMaxMs, undefined, { ref: false });
  throw new Error(
    'The database has not committed within 2 s. It is overloaded, waits for its synchronous standby, or has no connection left.',
  );
}
