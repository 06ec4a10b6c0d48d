import type { InviteRequest, ListedInvitationList, MadeInvitation } from '#contract/member.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { readTeam, teamRequest } from '#web/api/team-requests.ts';

export const invitationsQuery = (teamId: string) =>
  listQuery([teamId, 'invitation', 'list'], {
    read: (cursor, signal) => readTeam<ListedInvitationList>(teamId, '/team/invitations', { cursor }, signal),
    rowsOf: ({ invitations }) => invitations,
    isOlder: ({ invitation_id: id }, cursor) => isOlderId({ id }, cursor),
  });

export const inviteMember = (teamId: string, body: InviteRequest) =>
  teamRequest<MadeInvitation>(teamId, 'POST', '/team/members/invite', body);

export const resendInvitation = (teamId: string, id: string) =>
  teamRequest<MadeInvitation>(teamId, 'POST', `/team/invitations/${id}/resend`);

export const makeInvitationLink = (teamId: string, id: string) =>
  teamRequest<MadeInvitation>(teamId, 'POST', `/team/invitations/${id}/link`);

export const revokeInvitation = (teamId: string, id: string) =>
  teamRequest(teamId, 'DELETE', `/team/invitations/${id}`);
