import { Deleted } from '#contract/deleted.ts';
import {
  CreatedWebhook,
  CreateWebhookRequest,
  RotatedSecret,
  UpdateWebhookRequest,
  Webhook,
  WebhookList,
} from '#contract/webhook.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type HandlerContext, type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import { createWebhook, deleteWebhook, updateWebhook } from './change-webhook.ts';
import {
  createWebhookExamples,
  deleteWebhookExamples,
  finishRotationExamples,
  getWebhookExamples,
  listWebhooksExamples,
  rotateSecretExamples,
  updateWebhookExamples,
} from './route-examples.ts';
import { finishRotation, rotateSecret } from './webhook-secret.ts';
import { findWebhook, listWebhooks, type WebhookRow, type WebhookTarget } from './webhook-store.ts';

/** The Webhook object of the API, without secrets. */
function webhookView(webhook: WebhookRow, now: Date): Webhook {
  const { next_secret_from: takesOverAt } = webhook;
  return {
    id: publicId('wh', webhook.id),
    url: webhook.url,
    events: [...webhook.events],
    phone_number: webhook.phone_number,
    active: webhook.is_active,
    failure_count: webhook.failure_count,
    last_triggered_at: webhook.last_triggered_at?.toISOString() ?? null,
    next_secret_takes_over_at: takesOverAt && takesOverAt > now ? takesOverAt.toISOString() : null,
    created_at: webhook.created_at.toISOString(),
  };
}

/** The fields that all operations on one webhook share. */
export const ofWebhook = { ids: { id: 'wh' }, audience: 'api', permission: 'webhooks:manage' } as const;

/** Routes of webhooks and their secrets (specification sections 4.4 and 6.4). */
export function webhookRoutes(services: Runtime): Route[] {
  const { database, clock } = services;
  const shown = (webhook: WebhookRow) => webhookView(webhook, clock.now());
  return [
    route('GET /v1/webhooks', {
      audience: 'api',
      permission: 'webhooks:manage',
      ofMembers: { permission: 'webhooks:read' },
      text: {
        operationId: 'listWebhooks',
        tag: 'Webhooks',
        summary: 'List webhooks',
        description:
          'Lists all webhooks of the team, oldest first. Webhooks that are switched off are included.',
        examples: listWebhooksExamples,
      },
      answers: { 200: WebhookList },
      handle: async ({ principal }) => {
        const webhooks = await listWebhooks(database.pool, principal);
        return { body: { webhooks: webhooks.map(shown) } };
      },
    }),
    route('GET /v1/webhooks/:id', {
      ...ofWebhook,
      ofMembers: { permission: 'webhooks:read' },
      text: {
        operationId: 'getWebhook',
        tag: 'Webhooks',
        summary: 'Get a webhook',
        description: 'Returns a webhook without its secret, which was shown when the webhook was created.',
        examples: getWebhookExamples,
      },
      answers: { 200: Webhook },
      handle: async (call) => {
        const webhook = await findWebhook(database.pool, webhookTargetOf(call));
        if (!webhook) throw notFound('webhook');
        return { body: shown(webhook) };
      },
    }),
    route('POST /v1/webhooks', {
      audience: 'api',
      permission: 'webhooks:manage',
      audit: 'webhook.created',
      text: {
        operationId: 'createWebhook',
        tag: 'Webhooks',
        summary: 'Create a webhook',
        description:
          'From now on the server sends each event of the types in `events` to `url`, signed with `secret`. Only this answer shows the secret. The section *Event deliveries* has the requests that your receiver gets.',
        examples: createWebhookExamples,
      },
      body: CreateWebhookRequest,
      answers: { 201: CreatedWebhook },
      handle: async ({ principal, body, by }) => {
        const { webhook, secret } = await createWebhook(services, principal.teamId, body, by);
        const { id, url, events, phone_number, active, created_at } = shown(webhook);
        return { status: 201, body: { id, url, events, phone_number, secret, active, created_at } };
      },
    }),
    route('PUT /v1/webhooks/:id', {
      ...ofWebhook,
      audit: 'webhook.changed',
      text: {
        operationId: 'updateWebhook',
        tag: 'Webhooks',
        summary: 'Change a webhook',
        description:
          'Changes the fields that are sent; `{}` changes nothing. `active: false` skips the pending deliveries, which can be replayed later. `active: true` sets `failure_count` to 0. A new `url` gets the pending deliveries, and sets `failure_count` to 0, too.',
        examples: updateWebhookExamples,
      },
      body: UpdateWebhookRequest,
      answers: { 200: Webhook },
      handle: async (call) => ({
        body: shown(await updateWebhook(services, webhookTargetOf(call), call.body)),
      }),
    }),
    route('DELETE /v1/webhooks/:id', {
      ...ofWebhook,
      audit: 'webhook.deleted',
      text: {
        operationId: 'deleteWebhook',
        tag: 'Webhooks',
        summary: 'Delete a webhook',
        description: 'Deletes the webhook and its pending deliveries for good.',
        examples: deleteWebhookExamples,
      },
      answers: { 200: Deleted },
      handle: async (call) => {
        await deleteWebhook(services, webhookTargetOf(call));
        return { body: { deleted: true } };
      },
    }),
    route('POST /v1/webhooks/:id/rotate-secret', {
      ...ofWebhook,
      audit: 'webhook.secret_rotated',
      text: {
        operationId: 'rotateWebhookSecret',
        tag: 'Webhooks',
        summary: 'Start a rotation of the secret',
        description:
          'Returns the next secret, which only this answer shows. Each request to the receiver then carries signatures of both secrets, for at most 24 hours. Give the next secret to the receiver, then finish with `POST /v1/webhooks/{id}/rotate-secret/finish`.',
        examples: rotateSecretExamples,
      },
      answers: { 200: RotatedSecret },
      handle: async (call) => {
        const target = webhookTargetOf(call);
        const { secret, takesOverAt } = await rotateSecret(services, target);
        const id = publicId('wh', target.webhookId);
        return { body: { id, secret, takes_over_at: takesOverAt.toISOString() } };
      },
    }),
    route('POST /v1/webhooks/:id/rotate-secret/finish', {
      ...ofWebhook,
      audit: 'webhook.rotation_finished',
      text: {
        operationId: 'finishWebhookSecretRotation',
        tag: 'Webhooks',
        summary: 'Finish the rotation of the secret',
        description: 'From now on requests are signed with the next secret only.',
        examples: finishRotationExamples,
      },
      answers: { 200: Webhook },
      handle: async (call) => ({ body: shown(await finishRotation(services, webhookTargetOf(call))) }),
    }),
  ];
}

/** The webhook in the path of a call, and the actor. */
export function webhookTargetOf({
  principal,
  ids,
  by,
}: Pick<HandlerContext<unknown, unknown, { id: 'wh' }>, 'principal' | 'ids' | 'by'>): WebhookTarget {
  return { teamId: principal.teamId, webhookId: ids.id, by };
}
