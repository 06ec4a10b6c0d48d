import type { ListOptOutsQuery, OptOutList } from '#contract/opt-out.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { listOptOutRows } from './opt-out-store.ts';
import { optOutView } from './opt-out-view.ts';

/**
 * Lists a page of the contacts that are opted out, the latest first (specification section 4.6).
 * @throws AppError 400, param cursor, if it is no id of an opt-out
 */
export async function listOptOuts(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  query: ListOptOutsQuery,
): Promise<OptOutList> {
  const { rows, ...page } = await readPage('opt', query, (before, limit) =>
    listOptOutRows(database.pages, { teamId, before, limit }),
  );
  return { opt_outs: rows.map(optOutView), ...page };
}
