import type { InvitationList, ListedInvitationList, ListInvitationsQuery } from '#contract/member.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { listInvitationRows } from './invitation-store.ts';
import { invitationView } from './invitation-view.ts';
import { findMailedInvitations, type InvitationMailServices } from './mail-invitation.ts';

/**
 * A page of the live invitations of a team, newest first (specification section 4.1).
 * @throws AppError 400, param cursor, where it is not the id of an invitation
 */
export async function listInvitations(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
  query: ListInvitationsQuery,
): Promise<InvitationList> {
  const { rows, ...page } = await readPage('inv', query, (before, limit) =>
    listInvitationRows(database.pool, teamId, before, clock.expiryNow(), limit),
  );
  return { invitations: rows.map(invitationView), ...page };
}

/** The same page for a member, with whether each invitation was mailed (specification section 12.4). */
export async function listInvitationsForMember(
  services: Pick<Runtime, 'database' | 'clock' | 'config'> & InvitationMailServices,
  teamId: TeamId,
  query: ListInvitationsQuery,
): Promise<ListedInvitationList> {
  const { invitations, ...page } = await listInvitations(services, teamId, query);
  const ids = invitations.map(({ invitation_id }) => invitation_id);
  const mailed = await findMailedInvitations(services.database.pool, services, ids);
  return {
    invitations: invitations.map((one) => ({ ...one, mailed: mailed.has(one.invitation_id) })),
    ...page,
  };
}
