import { type Lane, laneSlots } from '#server/webhooks/limits.ts';

/**
 * SQL of a recursive CTE `walked (webhook_id)`: the webhooks with deliveries in the queue, in the order of their ids.
 * The CTE takes one step in the index per webhook, whatever the number of rows. Its last row is null.
 * @param after a condition on the first `webhook_id`
 */
export function sqlWebhooksWithDue(after = 'true'): string {
  return `walked AS (
     (SELECT webhook_id FROM due_deliveries WHERE ${after} ORDER BY webhook_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.webhook_id FROM due_deliveries d WHERE d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
     FROM walked w WHERE w.webhook_id IS NOT NULL
   )`;
}

/** SQL of one SELECT per lane, joined by UNION ALL, because each lane has a separate index with only its rows. */
export function sqlForEachLane(select: (lane: Lane, slots: number) => string): string {
  return Object.entries(laneSlots)
    .map(([lane, slots]) => select(lane as Lane, slots))
    .join(' UNION ALL ');
}
