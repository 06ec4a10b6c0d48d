import { errorCodeOf } from '#server/platform/error-code.ts';
import { query, transactionQuery } from './query.ts';
import type { Runtime } from './runtime.ts';
import { tableDeclarations } from './table-declaration.ts';
import { analyzeFilled } from './tables.ts';

/** SQLSTATE: PostgreSQL gave up waiting for a lock. */
const lockNotAvailable = '55P03';

/** Records the end of an erasure, so that `analyzeErased` analyzes the tables. */
export const noteErasure = transactionQuery<{ at: Date }>(
  'database.note-erasure',
  'UPDATE instance SET last_erased_at = :at',
).run;

// PostgreSQL forgets the times of analyses in a crash. A table without such a time counts as not analyzed.
const listOutdated = query<{ names: readonly string[] }, { name: string }>(
  'database.list-unanalyzed-since-erasure',
  `SELECT s.relname AS name FROM pg_stat_user_tables s CROSS JOIN instance i
   WHERE s.schemaname = current_schema() AND s.relname = ANY (:names)
     AND i.last_erased_at > greatest(s.last_analyze, s.last_autoanalyze, '-infinity') ORDER BY s.relname`,
).rows;

const erasedByHandle = [...tableDeclarations].flatMap(([name, { isErasedByHandle }]) =>
  isErasedByHandle ? [name] : [],
);

/**
 * Analyzes the tables that an erasure changes, if they were not analyzed since the last erasure of a contact. PostgreSQL keeps samples of a table's
 * values as statistics, so the contact's handle and texts stay there until the next analysis (specification section
 * 12.14).
 */
export async function analyzeErased({ database, logger }: Runtime): Promise<void> {
  for (const { name } of await listOutdated(database.pool, { names: erasedByHandle })) {
    await analyzeFilled(database.pool, name).catch((error: unknown) => {
      if (errorCodeOf(error) !== lockNotAvailable) throw error;
      logger.info({ table: name }, 'a table is in use; it is analyzed in the next round');
    });
  }
}
