/**
 * SQL of a recursive `walked (webhook_id)`: the webhooks that have due deliveries, in the order of their ids. It takes one
 * step of the index for each, however many rows it has; the last row is null.
 * @param after a condition on the first one's `webhook_id`
 */
export function sqlWalked(after = 'true'): string {
  return `walked AS (
     (SELECT webhook_id FROM due_deliveries WHERE ${after} ORDER BY webhook_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.webhook_id FROM due_deliveries d WHERE d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
     FROM walked w WHERE w.webhook_id IS NOT NULL
   )`;
}
