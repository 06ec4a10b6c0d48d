import { DeliveryRequest, LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { findDelivery } from '#server/webhooks/deliveries/delivery-store.ts';
import { webhookTargetOf } from '#server/webhooks/endpoints/routes.ts';
import { getLastAttempts, getWebhookHealth } from './get-webhook-health.ts';
import { findRequestBody } from './webhook-health-store.ts';

/** Routes for data of the webhook pages that /v1 does not have (specification section 12.3). */
export function webhookHealthRoutes(services: Pick<Runtime, 'database'>): Route[] {
  const { pages } = services.database;
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/webhooks/health',
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: LastAttempts },
      handle: async ({ principal }) => ({ body: await getLastAttempts(services, principal.teamId) }),
    }),
    route({
      method: 'GET',
      path: '/app/teams/:team_id/webhooks/:id/health',
      ids: { id: 'wh' },
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: WebhookHealth },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        return { body: await getWebhookHealth(services, teamId, webhookId) };
      },
    }),
    route({
      method: 'GET',
      path: '/app/teams/:team_id/webhooks/:id/deliveries/:delivery_id/request',
      ids: { id: 'wh', delivery_id: 'dlv' },
      audience: 'team',
      permission: 'webhooks:read',
      answers: { 200: DeliveryRequest },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        const deliveryId = call.ids.delivery_id;
        const delivery = await findDelivery(pages, { teamId, webhookId, deliveryId });
        if (!delivery) throw notFound('delivery');
        return { body: { body: await findRequestBody(pages, delivery) } };
      },
    }),
  ];
}
