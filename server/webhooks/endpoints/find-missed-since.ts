import { missedEventsMax } from '#contract/webhook-health.ts';
import { type Queryable, query } from '#server/database/query.ts';
import { type DeliveryId, timeOfId } from '#server/platform/ids.ts';
import type { WebhookIds } from './webhook-store.ts';

/** How many of the latest deliveries are searched for the last success. Pending deliveries are found at any age. */
const examinedMax = missedEventsMax;

const find = query<WebhookIds, { readonly id: DeliveryId | null; readonly missed: number }>(
  'webhooks.find-oldest-missed',
  `WITH latest AS MATERIALIZED (
     SELECT id, status FROM deliveries WHERE team_id = :teamId AND webhook_id = :webhookId AND NOT is_test
     ORDER BY team_id DESC, webhook_id DESC, id DESC LIMIT ${examinedMax}
   ),
   missed AS (
     SELECT id FROM latest
     WHERE status <> 'succeeded' AND id > coalesce((SELECT max(id::text)::uuid FROM latest WHERE status = 'succeeded'),
       '00000000-0000-0000-0000-000000000000')
   ),
   waiting AS (
     SELECT delivery_id AS id FROM due_deliveries WHERE webhook_id = :webhookId AND lane <> 'manual'
     ORDER BY webhook_id, delivery_id LIMIT 1
   )
   SELECT min(id::text)::uuid AS id, count(*)::int AS missed FROM (SELECT id FROM missed UNION SELECT id FROM waiting) AS either`,
);

/**
 * Finds the time from which a receiver may have missed events, and how many these are. The time is that of the oldest
 * delivery that is pending or came after the last success. A replay from then on repeats no successful delivery.
 */
export async function findMissedSince(
  db: Queryable,
  webhook: WebhookIds,
): Promise<{ readonly since: Date | undefined; readonly missed: number }> {
  const { id, missed } = await find.one(db, webhook);
  return { since: id ? timeOfId(id) : undefined, missed: Math.min(missed, missedEventsMax) };
}
