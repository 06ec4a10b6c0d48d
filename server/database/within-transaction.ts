import type { Database } from './database.ts';
import type { Transaction } from './statement.ts';

/**
 * Runs several use cases in one transaction: they get a database whose pools and transactions are all that one. Their rows
 * appear with its commit, or not at all. Their notifications follow the commit.
 */
export function withinTransaction<T>(
  database: Database,
  work: (inner: Database, trx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction((trx) => {
    const run = (part: (trx: Transaction) => Promise<unknown>) => part(trx);
    const inner: Database = Object.create(database, {
      hot: { value: trx },
      pages: { value: trx },
      pool: { value: trx },
      transaction: { value: run },
      notify: { value: trx.notifyAfterCommit },
    });
    return work(inner, trx);
  });
}
