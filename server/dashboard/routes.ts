import { Type } from 'typebox';
import { AccountOverview } from '#contract/account.ts';
import { Home } from '#contract/home.ts';
import { allows } from '#contract/permissions.ts';
import { RestoreState, ResumeRequest } from '#contract/restore.ts';
import { Timeline } from '#contract/timeline.ts';
import { PlanUsage } from '#contract/usage.ts';
import { DeliveryRequest, LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import { getHome } from '#server/dashboard/home/get-home.ts';
import type { LiveStreams } from '#server/dashboard/live/live-streams.ts';
import { readRestoreState, resumeRestore } from '#server/dashboard/restore/resume-restore.ts';
import { getTimeline } from '#server/dashboard/timeline/get-timeline.ts';
import {
  findRequestBody,
  getLastAttempts,
  getWebhookHealth,
} from '#server/dashboard/webhooks/webhook-health.ts';
import { findOpenHold } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { eventStreamHeaders } from '#server/http/event-stream.ts';
import { type Route, route } from '#server/http/route.ts';
import { forbidden, notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { findFirstTeam } from '#server/teams/team/team.ts';
import { findDelivery } from '#server/webhooks/deliveries/deliveries.ts';
import { webhookTargetOf } from '#server/webhooks/endpoints/routes.ts';
import { getPlanUsage } from './plan-usage.ts';
import { readOverview } from './read-overview.ts';

/**
 * Serves every operation of /v1 to the members of a team, too (decision 0014). Handler and schemas are the same. The
 * member authenticator replaces the authenticator of API keys, and an operation may require a lesser permission of
 * members. A list may answer with more fields. `PUT /v1/numbers/:id` becomes `PUT /app/teams/:team_id/numbers/:id`.
 */
export function forMembers(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => route.audience === 'api')
    .map(({ text: _text, ofMembers, ...route }) => ({
      ...route,
      ...ofMembers,
      audience: 'team',
      path: route.path.replace(/^\/v1/, '/app/teams/:team_id'),
    }));
}

interface DashboardServices extends Runtime {
  readonly liveStreams: LiveStreams;
}

/** Routes for what the pages of the dashboard show and /v1 does not have (specification section 12). */
export function dashboardRoutes(services: DashboardServices): Route[] {
  const { database, liveStreams } = services;
  return [
    // The signed-in account and its teams.
    route('GET /app/account', {
      audience: 'account',
      answers: { 200: AccountOverview },
      handle: async ({ signedIn }) => ({ body: await readOverview(services, signedIn.accountId) }),
    }),
    // The Home page of a team.
    route('GET /app/teams/:team_id/home', {
      audience: 'team',
      permission: 'messages:read',
      answers: { 200: Home },
      handle: async ({ principal }) => ({ body: await getHome(services, principal) }),
    }),
    // The limits of a team's plan.
    route('GET /app/teams/:team_id/usage/limits', {
      audience: 'team',
      permission: 'team:read',
      answers: { 200: PlanUsage },
      handle: async ({ principal }) => ({ body: await getPlanUsage(services, principal.teamId) }),
    }),
    // The live stream of a team. Every member may open it, and gets the types that their role may read.
    route('GET /app/teams/:team_id/live', {
      audience: 'team',
      admission: { permit: 'held' },
      answers: { 200: Type.String() },
      handle: async (call) => {
        if (call.request.method === 'HEAD') return { body: '', headers: eventStreamHeaders };
        liveStreams.open(call);
        // The live stream writes the HTTP answer itself, so the route returns no body.
        return { body: '' };
      },
    }),
    // The steps of a message.
    route('GET /app/teams/:team_id/messages/:id/timeline', {
      ids: { id: 'msg' },
      audience: 'team',
      permission: 'messages:read',
      answers: { 200: Timeline },
      handle: async ({ principal, ids }) => ({ body: await getTimeline(services, principal.teamId, ids.id) }),
    }),
    // The hold after a restore or an outage, for the banner of every page (sections 10.8 and 12.3).
    route('GET /app/teams/:team_id/restore', {
      audience: 'team',
      permission: 'team:read',
      answers: { 200: RestoreState },
      handle: async ({ principal }) => {
        const mayResume =
          allows(principal.permissions, 'restore:resume') && (await isFirstTeam(services, principal.teamId));
        return { body: await readRestoreState(services, mayResume) };
      },
    }),
    route('POST /app/teams/:team_id/restore/resume', {
      audience: 'team',
      permission: 'restore:resume',
      audit: 'restore.resumed',
      body: ResumeRequest,
      answers: { 200: RestoreState },
      handle: async ({ principal, body, by }) => {
        const isOfOthers = !(await isFirstTeam(services, principal.teamId));
        if (isOfOthers && (await findOpenHold(services.database.pool))) {
          throw forbidden(
            'The hold concerns all teams of this server. Ask an owner of its first team, or its operator, to resume.',
          );
        }
        await resumeRestore(services, by, {
          cancelMessages: body.cancel_messages ?? false,
          skipDeliveries: body.skip_deliveries ?? false,
        });
        return { body: await readRestoreState(services, true) };
      },
    }),
    // Why webhooks fail or are off, and what they were sent.
    route('GET /app/teams/:team_id/webhooks/health', {
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: LastAttempts },
      handle: async ({ principal }) => ({ body: await getLastAttempts(services, principal.teamId) }),
    }),
    route('GET /app/teams/:team_id/webhooks/:id/health', {
      ids: { id: 'wh' },
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: WebhookHealth },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        return { body: await getWebhookHealth(services, teamId, webhookId) };
      },
    }),
    route('GET /app/teams/:team_id/webhooks/:id/deliveries/:delivery_id/request', {
      ids: { id: 'wh', delivery_id: 'dlv' },
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: DeliveryRequest },
      handle: async (call) => {
        const delivery = await findDelivery(database.pages, {
          ...webhookTargetOf(call),
          deliveryId: call.ids.delivery_id,
        });
        if (!delivery) throw notFound('delivery');
        return { body: { body: await findRequestBody(database.pages, delivery) } };
      },
    }),
  ];
}

async function isFirstTeam({ database }: Runtime, teamId: TeamId): Promise<boolean> {
  return (await findFirstTeam(database.pool))?.id === teamId;
}
