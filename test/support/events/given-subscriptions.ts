import type { EventType } from '#contract/event.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Changes the events of a webhook, not its deliveries. */
export async function setSubscription(
  { query }: Service,
  webhookId: WebhookId,
  types: readonly EventType[],
  phoneNumber?: string,
): Promise<void> {
  await query('UPDATE webhooks SET events = $2, phone_number = $3 WHERE id = $1', [
    webhookId,
    types,
    phoneNumber ?? null,
  ]);
}

/** Enables or disables a webhook without changing its deliveries. */
export async function switchSubscription(
  { query }: Service,
  webhookId: WebhookId,
  isActive: boolean,
): Promise<void> {
  await query(
    `UPDATE webhooks SET is_active = $2, disabled_at = CASE WHEN NOT $2 THEN created_at END,
       disabled_by = CASE WHEN NOT $2 THEN 'member' END WHERE id = $1`,
    [webhookId, isActive],
  );
}

/** Deletes a webhook, not its deliveries. */
export async function removeSubscription({ query }: Service, webhookId: WebhookId): Promise<void> {
  await query('DELETE FROM webhooks WHERE id = $1', [webhookId]);
}
