import type { History, OldRow } from '#server/database/purge-walk.ts';
import { firstIdAt, idMax } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Deletes finished rows of a table of any age in one batch. @returns the number of deleted rows */
export function purgeHistory<Row extends OldRow>(
  { runtime }: Pick<TestService, 'runtime'>,
  history: History<Row>,
  from: string = firstIdAt(0),
): Promise<number> {
  return runtime.database.transaction(async (trx) => {
    const rows = await history.lock(trx, { from, to: idMax }, 10_000, []);
    if (rows.length > 0) await history.remove(trx, rows);
    return rows.length;
  });
}
