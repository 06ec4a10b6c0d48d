import { query } from '#server/database/query.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
import { type Lane, laneSlots } from '#server/webhooks/limits.ts';

/**
 * SQL of a recursive CTE `walked (webhook_id)`: the webhooks with deliveries in the queue, in the order of their ids.
 * The CTE takes one step in the index per webhook, whatever the number of live rows; it passes all dead rows, which an
 * open snapshot keeps. Its last row is null.
 */
export const sqlWebhooksWithDue = `walked AS (
     (SELECT webhook_id FROM due_deliveries WHERE webhook_id > '00000000-0000-0000-0000-000000000000' ORDER BY webhook_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.webhook_id FROM due_deliveries d WHERE d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
     FROM walked w WHERE w.webhook_id IS NOT NULL
   )`;

/** SQL of one SELECT per lane, joined by UNION ALL, because each lane has a separate index with only its rows. */
export function sqlForEachLane(select: (lane: Lane, slots: number) => string): string {
  return Object.entries(laneSlots)
    .map(([lane, slots]) => select(lane as Lane, slots))
    .join(' UNION ALL ');
}

/** A webhook with deliveries in the queue, and the first due time of each lane in milliseconds; null for an empty lane. */
export type QueuedWebhook = Readonly<Record<Lane, number | null>> & { readonly id: WebhookId };

/** Reads the whole queue, at a cost that depends on its dead rows. @returns the webhooks with deliveries */
export const findQueuedWebhooks = query<object, QueuedWebhook>(
  'webhooks.look-at-queue',
  `WITH RECURSIVE ${sqlWebhooksWithDue}
   SELECT webhook_id AS id, ${Object.keys(laneSlots)
     .map(
       (lane) => `(SELECT floor(extract(epoch FROM due_at) * 1000)::float8 FROM due_deliveries
         WHERE webhook_id = w.webhook_id AND lane = '${lane}' ORDER BY due_at LIMIT 1) AS ${lane}`,
     )
     .join(', ')}
   FROM walked w WHERE webhook_id IS NOT NULL`,
).rows;
