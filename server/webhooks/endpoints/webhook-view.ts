import type { Webhook } from '#contract/webhook.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { WebhookRow } from './webhook-store.ts';

/** The Webhook object of the API, without secrets (specification section 2.7). */
export function webhookView(webhook: WebhookRow, now: Date): Webhook {
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
