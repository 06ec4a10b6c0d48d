import { type Lane, laneSlots } from '#server/webhooks/limits.ts';

/**
 * SQL of a recursive `walked (webhook_id)`: the webhooks that have due deliveries, in the order of their ids. It takes
 * one step of the index for each, however many rows it has; the last row is null.
 * @param after a condition on the first one's `webhook_id`
 */
export function sqlWebhooksWithDue(after = 'true'): string {
  return `walked AS (
     (SELECT webhook_id FROM due_deliveries WHERE ${after} ORDER BY webhook_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.webhook_id FROM due_deliveries d WHERE d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
     FROM walked w WHERE w.webhook_id IS NOT NULL
   )`;
}

/** A SELECT for each lane by itself: each lane has an index of its own, which contains only its rows. */
export function sqlForEachLane(select: (lane: Lane, places: number) => string): string {
  return Object.entries(laneSlots)
    .map(([lane, places]) => select(lane as Lane, places))
    .join(' UNION ALL ');
}
