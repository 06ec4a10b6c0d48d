import type { InvitationList, ListInvitationsQuery } from '#contract/member.ts';
import { listLimitDefault } from '#contract/paging.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { invalid } from '#server/platform/app-error.ts';
import { parseId, type TeamId } from '#server/platform/ids/ids.ts';
import { listInvitationRows } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';

/** The cursor of the first page: greater than every id. */
const beginning = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A page of the live invitations of a team, newest first (specification section 4.1).
 * @throws AppError 400, param cursor, where it is not the id of an invitation
 */
export async function listInvitations(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
  { limit = listLimitDefault, cursor }: ListInvitationsQuery,
): Promise<InvitationList> {
  const before = readCursor(cursor);
  const rows = await listInvitationRows(database.pool, teamId, before, clock.expiryNow(), limit + 1);
  const invitations = rows.slice(0, limit).map(invitationView);
  return {
    invitations,
    cursor: invitations.at(-1)?.invitation_id ?? '',
    has_more: rows.length > limit,
  };
}

/** Reads the cursor, an id that the page begins after. It is not looked up: that invitation may have ended. */
function readCursor(cursor: string | undefined): string {
  if (cursor === undefined || cursor === '') return beginning;
  const id = parseId('inv', cursor);
  if (id) return id;
  throw invalid('cursor', 'cursor must be the cursor of the page before, or be left out for the first page.');
}
