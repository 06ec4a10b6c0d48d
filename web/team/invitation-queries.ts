import type { InvitationList, InviteRequest, MadeInvitation } from '#contract/member.ts';
import { request } from '#web/api/request.ts';
import { teamRequest, withQuery } from '#web/api/team-requests.ts';

export const invitationsQuery = (teamId: string) => ({
  queryKey: [teamId, 'invitation', 'pages'],
  queryFn: ({ pageParam, signal }: { readonly pageParam: string; readonly signal: AbortSignal }) =>
    request<InvitationList>(
      'GET',
      withQuery(`/app/teams/${teamId}/team/invitations`, { cursor: pageParam }),
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: (page: InvitationList) => (page.has_more ? page.cursor : undefined),
});

export const inviteMember = (teamId: string, body: InviteRequest) =>
  teamRequest<MadeInvitation>(teamId, 'POST', '/team/members/invite', body);

export const resendInvitation = (teamId: string, id: string) =>
  teamRequest<MadeInvitation>(teamId, 'POST', `/team/invitations/${id}/resend`);

export const revokeInvitation = (teamId: string, id: string) =>
  teamRequest(teamId, 'DELETE', `/team/invitations/${id}`);
