import { failuresMax } from '#contract/webhook.ts';
import type { DeliveryId, WebhookId } from '#server/platform/ids/ids.ts';
import type { CountedWebhook } from './failure-store.ts';
import type { ClassifiedResult } from './result-statement.ts';

export interface Counted<Classified> {
  readonly results: readonly Classified[];
  /** The new failure counts of webhooks whose count changed. At `failuresMax` a webhook must be disabled. */
  readonly counts: ReadonlyMap<WebhookId, number>;
}

/**
 * Counts failures in the order of the results (specification section 6.3). A failure raises a webhook's count, a
 * success resets it to zero, and counting stops at `failuresMax`. Results of an earlier generation, or after the end of
 * their lease, do not count.
 * @param leased deliveries whose attempt still has its lease
 */
export function countFailures<Classified extends ClassifiedResult>(
  webhooks: readonly CountedWebhook[],
  leased: ReadonlySet<DeliveryId>,
  classified: readonly Classified[],
): Counted<Classified> {
  const known = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  const counts = new Map<WebhookId, number>();
  const results = classified.map((one) => {
    const { claimed, outcome } = one.result;
    const webhook = known.get(claimed.webhook_id);
    const before = webhook && (counts.get(webhook.id) ?? webhook.failure_count);
    const isCounted =
      one.isCounted &&
      webhook?.is_active === true &&
      webhook.generation === claimed.generation &&
      before !== failuresMax &&
      leased.has(claimed.delivery_id);
    if (isCounted) counts.set(claimed.webhook_id, outcome === 'succeeded' ? 0 : (before ?? 0) + 1);
    return { ...one, isCounted };
  });
  for (const { id, failure_count } of webhooks) if (counts.get(id) === failure_count) counts.delete(id);
  return { results, counts };
}
