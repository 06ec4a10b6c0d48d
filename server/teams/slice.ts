import type { RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { acceptancePageRoutes } from './acceptance/acceptance-page-routes.ts';
import { invitationRoutes } from './invitations/invitation-routes.ts';
import { purgeInvitations } from './invitations/invitations.ts';
import type { InvitationServices } from './invitations/mail-invitation.ts';
import { memberRoutes, teamRoutes } from './members/routes.ts';

export function openTeams(services: InvitationServices & { readonly requireSession: RequireSession }): Slice {
  return {
    routes: [
      ...teamRoutes(services),
      ...memberRoutes(services),
      ...invitationRoutes(services),
      ...acceptancePageRoutes(services, services.requireSession),
    ],
    jobs: [sweep('maintain', 'purge invitations', 3_600_000, 'expires', () => purgeInvitations(services))],
  };
}
