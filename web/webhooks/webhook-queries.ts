import type {
  CreatedWebhook,
  CreateWebhookRequest,
  Delivery,
  DeliveryDetail,
  DeliveryLog,
  QueuedReplay,
  ReplayRequest,
  RotatedSecret,
  UpdateWebhookRequest,
  Webhook,
  WebhookList,
} from '#contract/webhook.ts';
import type { DeliveryRequest, LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId } from '#web/api/loaded-list.ts';
import { queryClient } from '#web/api/query-client.ts';
import { readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import type { LogFilters } from './log-address.ts';

export const webhooksQuery = (teamId: string) => teamQuery<WebhookList>(teamId, 'webhook', '/webhooks');

export const webhookQuery = (teamId: string, id: string) =>
  teamQuery<Webhook>(teamId, 'webhook', `/webhooks/${id}`);

export const webhookHealthQuery = (teamId: string, id: string) =>
  teamQuery<WebhookHealth>(teamId, 'webhook', `/webhooks/${id}/health`);

/** The latest attempts of the team's webhooks, read again with their deliveries. */
export const lastAttemptsQuery = (teamId: string) =>
  teamQuery<LastAttempts>(teamId, 'delivery', '/webhooks/health');

const deliveriesOnPage = 25;

export const deliveriesQuery = (teamId: string, id: string, { status, event }: LogFilters) => {
  const parameters = { status, event_type: event, limit: deliveriesOnPage };
  return listQuery([teamId, 'delivery', 'log', id, parameters], {
    read: (cursor, signal) =>
      readTeam<DeliveryLog>(teamId, `/webhooks/${id}/deliveries`, { ...parameters, cursor }, signal),
    rowsOf: ({ deliveries }) => deliveries,
    isOlder: isOlderId,
  });
};

export const deliveryQuery = (teamId: string, webhookId: string, id: string) =>
  teamQuery<DeliveryDetail>(teamId, 'delivery', `/webhooks/${webhookId}/deliveries/${id}`);

/** The request body of a delivery, which never changes. */
export const deliveryRequestQuery = (teamId: string, webhookId: string, id: string) => ({
  ...teamQuery<DeliveryRequest>(teamId, 'delivery', `/webhooks/${webhookId}/deliveries/${id}/request`),
  staleTime: Number.POSITIVE_INFINITY,
  refetchInterval: false as const,
});

export async function refreshWebhooks(teamId: string): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: [teamId, 'webhook'] }),
    queryClient.invalidateQueries({ queryKey: [teamId, 'delivery'] }),
  ]);
}

export const createWebhook = (teamId: string, body: CreateWebhookRequest) =>
  teamRequest<CreatedWebhook>(teamId, 'POST', '/webhooks', body);

export const updateWebhook = (teamId: string, id: string, body: UpdateWebhookRequest) =>
  teamRequest<Webhook>(teamId, 'PUT', `/webhooks/${id}`, body);

export const deleteWebhook = (teamId: string, id: string) => teamRequest(teamId, 'DELETE', `/webhooks/${id}`);

export const sendTest = (teamId: string, id: string) =>
  teamRequest<Delivery>(teamId, 'POST', `/webhooks/${id}/test`);

export const rotateSecret = (teamId: string, id: string) =>
  teamRequest<RotatedSecret>(teamId, 'POST', `/webhooks/${id}/rotate-secret`);

export const finishRotation = (teamId: string, id: string) =>
  teamRequest<Webhook>(teamId, 'POST', `/webhooks/${id}/rotate-secret/finish`);

export const redeliver = (teamId: string, webhookId: string, id: string) =>
  teamRequest<Delivery>(teamId, 'POST', `/webhooks/${webhookId}/deliveries/${id}/redeliver`);

export const replay = (teamId: string, id: string, body: ReplayRequest) =>
  teamRequest<QueuedReplay>(teamId, 'POST', `/webhooks/${id}/replay`, body);
