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
import { type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { ofWebhook, webhookTargetOf } from '#server/webhooks/endpoints/routes.ts';
import { findWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import {
  deliveryDetailView,
  deliveryView,
  findDelivery,
  listDeliveries,
  listDeliveryLog,
  listLatestAttempts,
} from './deliveries.ts';
import { queueTestDelivery, redeliver } from './manual-attempts.ts';
import { replayDeliveries } from './replay-deliveries.ts';
import {
  getDeliveryExamples,
  listDeliveriesExamples,
  redeliverExamples,
  replayExamples,
  testWebhookExamples,
} from './route-examples.ts';

/** Routes of a webhook's deliveries, their redelivery and replay (specification sections 4.4 and 6.4). */
export function deliveryRoutes(services: Runtime): Route[] {
  const { database } = services;
  return [
    route('GET /v1/webhooks/:id/deliveries', {
      ...ofWebhook,
      text: {
        operationId: 'listDeliveries',
        tag: 'Webhooks',
        summary: 'List deliveries',
        description:
          'Lists the deliveries of a webhook, newest first. A delivery is one event for one webhook. Pages work as those of messages: with filters a page can be short or empty while `has_more` is true.',
        examples: listDeliveriesExamples,
      },
      query: ListDeliveriesQuery,
      answers: { 200: DeliveryList },
      handle: async (call) => ({ body: await listDeliveries(services, webhookTargetOf(call), call.query) }),
      ofMembers: {
        permission: 'webhooks:read',
        answers: { 200: DeliveryLog },
        handle: async (call) => ({
          body: await listDeliveryLog(services, webhookTargetOf(call), call.query),
        }),
      },
    }),
    route('GET /v1/webhooks/:id/deliveries/:delivery_id', {
      ...ofWebhook,
      ids: { id: 'wh', delivery_id: 'dlv' },
      ofMembers: { permission: 'webhooks:read' },
      text: {
        operationId: 'getDelivery',
        tag: 'Webhooks',
        summary: 'Get a delivery',
        description:
          'Returns a delivery with its attempts: when each began, how long it took, and its answer or failure.',
        examples: getDeliveryExamples,
      },
      answers: { 200: DeliveryDetail },
      handle: async (call) => {
        const { teamId, webhookId } = webhookTargetOf(call);
        if (!(await findWebhook(database.pool, { teamId, webhookId }))) throw notFound('webhook');
        const deliveryId = call.ids.delivery_id;
        const delivery = await findDelivery(database.pool, { teamId, webhookId, deliveryId });
        if (!delivery) throw notFound('delivery');
        const attempts = await listLatestAttempts(database.pool, { teamId, deliveryId });
        return { body: deliveryDetailView(delivery, attempts) };
      },
    }),
    route('POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver', {
      ...ofWebhook,
      ids: { id: 'wh', delivery_id: 'dlv' },
      audit: 'webhook.redelivered',
      text: {
        operationId: 'redeliver',
        tag: 'Webhooks',
        summary: 'Send a delivery again',
        description:
          'Makes one attempt now, with the same body and with the current url and secret of the webhook. It works while the webhook is switched off, too. A failure does not count in `failure_count`, and the webhook stays off.',
        examples: redeliverExamples,
      },
      answers: { 202: Delivery },
      handle: async (call) => {
        const delivery = await redeliver(services, webhookTargetOf(call), call.ids.delivery_id);
        return { status: 202, body: deliveryView(delivery) };
      },
    }),
    route('POST /v1/webhooks/:id/replay', {
      ...ofWebhook,
      audit: 'webhook.replayed',
      text: {
        operationId: 'replayDeliveries',
        tag: 'Webhooks',
        summary: 'Replay missed deliveries',
        description:
          'Sends failed or skipped deliveries of events since `since` again, each once and oldest first. New events go first. Deliveries that succeeded are not repeated.',
        examples: replayExamples,
      },
      body: ReplayRequest,
      answers: { 202: QueuedReplay },
      handle: async (call) => ({
        status: 202,
        body: { queued: await replayDeliveries(services, webhookTargetOf(call), call.body) },
      }),
    }),
    route('POST /v1/webhooks/:id/test', {
      ...ofWebhook,
      audit: 'webhook.tested',
      text: {
        operationId: 'testWebhook',
        tag: 'Webhooks',
        summary: 'Send a test event',
        description:
          'Sends one signed sample of the first type in `events`, with the header `x-service-test: 1`. It is sent once, without retries, so the receiver has to be up. A failure does not count in `failure_count`.',
        examples: testWebhookExamples,
      },
      answers: { 202: Delivery },
      handle: async (call) => ({
        status: 202,
        body: deliveryView(await queueTestDelivery(services, webhookTargetOf(call))),
      }),
    }),
  ];
}
