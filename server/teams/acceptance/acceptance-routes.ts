import { AcceptInvitationRequest, Joined, OpenedInvitation } from '#contract/member.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import type { RoleChangeServices } from '#server/teams/members/apply-role.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { type LoadedInvitation, loadInvitation } from './load-invitation.ts';

/** JSON routes of an invitation, like those of its page (acceptance-page-routes.ts, specification section 12.4). */
export function acceptanceRoutes(
  services: Runtime & RoleChangeServices,
  requireSession: RequireSession,
): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/invitations/:token',
      audience: 'visitor',
      answers: { 200: OpenedInvitation },
      handle: async ({ params, request }) => {
        const signedIn = await findSignedIn(requireSession, request);
        return { body: openedView(await loadInvitation(services, params.token ?? '', signedIn)) };
      },
    }),
    route({
      method: 'POST',
      path: '/app/invitations/:token',
      audience: 'visitor',
      audit: 'member.joined',
      body: AcceptInvitationRequest,
      answers: { 201: Joined },
      handle: async ({ params, body, request }) => {
        const signedIn = await findSignedIn(requireSession, request);
        // With this caller, the audit log records a refused attempt for the signed-in account.
        if (signedIn) request.caller = { signedIn };
        const acceptance = { token: params.token ?? '', signedIn, fields: body, request };
        const { joined, cookies } = await acceptInvitation(services, acceptance);
        return { status: 201, body: joined, headers: { 'set-cookie': cookies } };
      },
    }),
  ];
}

function openedView({ invitation, needs, signedIn }: LoadedInvitation): OpenedInvitation {
  return {
    team_name: invitation.team_name,
    email: invitation.email ?? '',
    role: invitation.role,
    expires_at: invitation.expires_at.toISOString(),
    signed_in_as: signedIn?.actor.name ?? '',
    needs,
  };
}
