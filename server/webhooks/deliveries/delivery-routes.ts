import {
  Delivery,
  DeliveryDetail,
  DeliveryList,
  DeliveryLog,
  ListDeliveriesQuery,
  QueuedReplay,
  ReplayRequest,
} from '#contract/webhook.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { type DeliveryId, parseId } from '#server/platform/ids/ids.ts';
import { webhookTargetOf } from '#server/webhooks/endpoints/routes.ts';
import { findWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import { findDelivery, listLatestAttempts } from './delivery-store.ts';
import { deliveryDetailView, deliveryView } from './delivery-view.ts';
import { listDeliveries, listDeliveryLog } from './list-deliveries.ts';
import { queueTestDelivery } from './queue-test-delivery.ts';
import { redeliver } from './redeliver.ts';
import { replayDeliveries } from './replay-deliveries.ts';

/** Routes of a webhook's deliveries, their redelivery and replay (specification sections 4.4 and 6.4). */
export function deliveryRoutes(services: Runtime): Route[] {
  const { database } = services;
  return [
    route({
      method: 'GET',
      path: '/v1/webhooks/:id/deliveries',
      audience: 'api',
      permission: 'webhooks:manage',
      memberPermission: 'webhooks:read',
      text: {
        operationId: 'listDeliveries',
        tag: 'Webhooks',
        summary: 'List deliveries',
        description:
          'The deliveries of the webhook, newest first: made, in progress and to come. Pages are as those of messages: one whose filters fit few deliveries may be short, or empty, and still have more behind it.',
        errorStatuses: [404],
      },
      query: ListDeliveriesQuery,
      answers: { 200: DeliveryList },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        return { body: await listDeliveries(services, teamId, webhookId, call.query) };
      },
      ofMembers: {
        answers: { 200: DeliveryLog },
        handle: async (call) => {
          const { teamId, webhookId } = webhookTargetOf(call);
          return { body: await listDeliveryLog(services, teamId, webhookId, call.query) };
        },
      },
    }),
    route({
      method: 'GET',
      path: '/v1/webhooks/:id/deliveries/:delivery_id',
      audience: 'api',
      permission: 'webhooks:manage',
      memberPermission: 'webhooks:read',
      text: {
        operationId: 'getDelivery',
        tag: 'Webhooks',
        summary: 'Get a delivery',
        description: 'One delivery with its attempts: when, how long, what was answered, or what went wrong.',
        errorStatuses: [404],
      },
      answers: { 200: DeliveryDetail },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        if (!(await findWebhook(database.pool, teamId, webhookId))) throw notFound('webhook');
        const delivery = await findDelivery(database.pool, teamId, webhookId, deliveryIdOf(call.params));
        if (!delivery) throw notFound('delivery');
        return { body: deliveryDetailView(delivery, await listLatestAttempts(database.pool, delivery)) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
      audience: 'api',
      permission: 'webhooks:manage',
      audit: 'webhook.redelivered',
      text: {
        operationId: 'redeliver',
        tag: 'Webhooks',
        summary: 'Send a delivery again',
        description:
          'One attempt now, with the same bytes, the webhook’s url and its present secret, also while it is switched off. It never counts as a failure, and never switches a webhook on.',
        errorStatuses: [404, 409],
      },
      answers: { 202: Delivery },
      handle: async (call) => {
        const delivery = await redeliver(services, webhookTargetOf(call), deliveryIdOf(call.params));
        return { status: 202, body: deliveryView(delivery) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/webhooks/:id/replay',
      audience: 'api',
      permission: 'webhooks:manage',
      audit: 'webhook.replayed',
      text: {
        operationId: 'replayDeliveries',
        tag: 'Webhooks',
        summary: 'Send again what was missed',
        description:
          'Delivers again what failed, was skipped, or both, of the events from `since` on: each once, oldest first, behind what happens now, and nothing that succeeded.',
        errorStatuses: [404, 409],
      },
      body: ReplayRequest,
      answers: { 202: QueuedReplay },
      handle: async (call) => ({
        status: 202,
        body: { queued: await replayDeliveries(services, webhookTargetOf(call), call.body) },
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/webhooks/:id/test',
      audience: 'api',
      permission: 'webhooks:manage',
      audit: 'webhook.tested',
      text: {
        operationId: 'testWebhook',
        tag: 'Webhooks',
        summary: 'Send a test',
        description:
          'Sends one signed sample of the first type in `events`, with the header `x-service-test: 1`. It counts for nothing.',
        errorStatuses: [404],
      },
      answers: { 202: Delivery },
      handle: async (call) => ({
        status: 202,
        body: deliveryView(await queueTestDelivery(services, webhookTargetOf(call))),
      }),
    }),
  ];
}

function deliveryIdOf(params: Readonly<Record<string, string>>): DeliveryId {
  const id = parseId('dlv', params.delivery_id ?? '');
  if (!id) throw notFound('delivery');
  return id;
}
