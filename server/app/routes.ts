import type { MagicLinkRequests } from '#server/accounts/magic-links/magic-link-requests.ts';
import { passkeyRoutes } from '#server/accounts/passkeys/passkey-routes.ts';
import type { RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import { accountRoutes } from '#server/accounts/sign-in/account-routes.ts';
import { signInRoutes } from '#server/accounts/sign-in/sign-in-routes.ts';
import { apiKeyRoutes } from '#server/api-keys/routes.ts';
import { apiReferenceRoutes } from '#server/api-reference/api-reference-routes.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import { auditRoutes } from '#server/audit/routes.ts';
import { billingRoutes } from '#server/dashboard/billing-routes.ts';
import type { Changes } from '#server/dashboard/changes.ts';
import { conversationRoutes } from '#server/dashboard/conversations/routes.ts';
import type { LiveStreams } from '#server/dashboard/live/live-streams.ts';
import { dashboardRoutes } from '#server/dashboard/routes.ts';
import { forMembers } from '#server/dashboard/team-routes.ts';
import { pageFileRoutes, webRoutes } from '#server/dashboard/web/web-routes.ts';
import { sessionLifeAfterAnswerMs } from '#server/device-protocol/limits.ts';
import { createLookUpBatcher } from '#server/device-protocol/look-up-polls.ts';
import type { PollRegistry } from '#server/device-protocol/poll-registry.ts';
import { deviceRoutes } from '#server/device-protocol/routes.ts';
import { erasureRoutes } from '#server/erasure/routes.ts';
import type { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { eventRoutes } from '#server/events/routes.ts';
import { mediaRoutes } from '#server/media/routes.ts';
import { createClaimBatcher } from '#server/messages/claim-message.ts';
import { createReportBatcher } from '#server/messages/report-message.ts';
import { messageRoutes } from '#server/messages/routes.ts';
import type { SendBatcher } from '#server/messages/send-batcher.ts';
import { numberRoutes } from '#server/numbers/routes.ts';
import { type HealthServices, healthRoutes } from '#server/operations/health-routes.ts';
import { probeRoute } from '#server/operations/probe-route.ts';
import { optOutRoutes } from '#server/opt-outs/routes.ts';
import type { LongPolls } from '#server/platform/concurrency/long-poll.ts';
import type { Route } from '#server/platform/http/route.ts';
import type { ProgressRequests } from '#server/setup/follow-progress.ts';
import { publishedShortcutsRoutes } from '#server/setup/published-shortcuts-routes.ts';
import { setupPageRoutes } from '#server/setup/setup-page-routes.ts';
import { setupStateRoutes } from '#server/setup/setup-state-routes.ts';
import type { ShortcutSigner } from '#server/setup/shortcut-signer.ts';
import { acceptancePageRoutes } from '#server/teams/acceptance/acceptance-page-routes.ts';
import { invitationRoutes } from '#server/teams/invitations/invitation-routes.ts';
import { memberRoutes, teamRoutes } from '#server/teams/members/routes.ts';
import { usageRoutes } from '#server/usage/routes.ts';
import { deliveryRoutes } from '#server/webhooks/deliveries/delivery-routes.ts';
import { webhookRoutes } from '#server/webhooks/endpoints/routes.ts';

interface RouteServices extends HealthServices {
  readonly heldPolls: PollRegistry;
  readonly feedPolls: FeedPollRegistry;
  readonly sends: SendBatcher;
  readonly changes: Changes;
  readonly progressRequests: ProgressRequests;
  readonly liveStreams: LiveStreams;
  readonly signer: ShortcutSigner | undefined;
  readonly requireSession: RequireSession;
  readonly magicLinks: MagicLinkRequests;
  readonly refusals: RefusalLog;
  readonly heldProbes: LongPolls<'probe'>;
}

/** Creates all routes of this process. Without the process role `api` it serves only the routes for operators. */
export function createRoutes(services: RouteServices): Route[] {
  const operations = healthRoutes(services);
  if (!services.config.processRoles.has('api')) return operations;
  const own = routesOfSlices(services);
  return [
    ...operations,
    probeRoute(services),
    ...own,
    ...forMembers(own),
    ...apiReferenceRoutes(services.config, own),
  ];
}

function routesOfSlices(services: RouteServices): Route[] {
  const { requireSession, sends } = services;
  return [
    ...teamRoutes(services),
    ...memberRoutes(services),
    ...invitationRoutes(services),
    ...acceptancePageRoutes(services, requireSession),
    ...numberRoutes(services),
    ...eventRoutes(services),
    ...optOutRoutes(services),
    ...mediaRoutes(services),
    ...messageRoutes({ ...services, sends }),
    ...webhookRoutes(services),
    ...deliveryRoutes(services),
    ...deviceRoutes({
      ...services,
      lookUps: createLookUpBatcher(services),
      reports: createReportBatcher(services),
      claims: createClaimBatcher(services, sessionLifeAfterAnswerMs(services.config.deviceHoldMs)),
    }),
    ...setupPageRoutes(services),
    ...setupStateRoutes({ ...services, sends }),
    ...publishedShortcutsRoutes(services),
    ...apiKeyRoutes(services),
    ...usageRoutes(services),
    ...auditRoutes(services),
    ...signInRoutes(services),
    ...accountRoutes(services),
    ...passkeyRoutes(services),
    ...dashboardRoutes(services),
    ...erasureRoutes(services),
    ...webRoutes(services),
    ...pageFileRoutes(),
    ...conversationRoutes(services),
    ...billingRoutes(services),
  ];
}
