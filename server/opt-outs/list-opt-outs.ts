import type { ListOptOutsQuery, OptOutList } from '#contract/opt-out.ts';
import { listLimitDefault } from '#contract/paging.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { listOptOutRows } from './opt-out-store.ts';
import { optOutView } from './opt-out-view.ts';

/** Greater than every id: the first page begins here. */
const beginning = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Lists a page of the contacts that are opted out, the latest first (specification section 4.6).
 * @throws AppError 400, param cursor, if it is no id of an opt-out
 */
export async function listOptOuts(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  { limit = listLimitDefault, cursor }: ListOptOutsQuery,
): Promise<OptOutList> {
  const rows = await listOptOutRows(database.pages, teamId, readCursor(cursor), limit + 1);
  const optOuts = rows.slice(0, limit).map(optOutView);
  return { opt_outs: optOuts, cursor: optOuts.at(-1)?.id ?? '', has_more: rows.length > limit };
}

/** Reads the cursor, which is a position: no opt-out with that id has to exist. */
function readCursor(cursor: string | undefined): string {
  if (cursor === undefined || cursor === '') return beginning;
  const id = parseId('opt', cursor);
  if (id) return id;
  throw invalid('cursor', 'cursor must be the cursor of the page before, or be left out for the first page.');
}
