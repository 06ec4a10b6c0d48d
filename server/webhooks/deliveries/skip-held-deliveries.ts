import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { firstIdAfter, type TeamId, type WebhookId } from '#server/platform/ids.ts';
import { lockWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import { skipRound } from '#server/webhooks/queue/pending-deliveries.ts';

const findHeld = query<{ before: string }, { team_id: TeamId; id: WebhookId }>(
  'webhooks.find-held',
  `SELECT w.team_id, w.id FROM webhooks w
   WHERE EXISTS (SELECT FROM due_deliveries d WHERE d.webhook_id = w.id AND d.delivery_id < :before) LIMIT 1`,
).row;
// Manual attempts are skipped, too. None is in progress, because none is made during a restore hold.
const skip = skipRound<{ before: string }>('webhooks.skip-held', 'delivery_id < :before');
const countBefore = query<{ before: string; limit: number }, { count: number }>(
  'webhooks.count-held',
  `SELECT count(*) FROM (
     SELECT FROM webhooks w
     CROSS JOIN LATERAL (
       SELECT FROM due_deliveries d WHERE d.webhook_id = w.id AND d.delivery_id < :before ORDER BY d.delivery_id LIMIT :limit) d
     LIMIT :limit) c`,
).number;

/**
 * Counts deliveries that a restore hold holds back. @returns the number of pending deliveries of events up to
 * `heldBefore`, at most `limit`
 */
export function countHeldDeliveries(db: Queryable, heldBefore: Date, limit: number): Promise<number> {
  return countBefore(db, { before: firstIdAfter(heldBefore), limit });
}

/**
 * Skips all pending deliveries of events up to a moment, so that a replay finds them.
 * @returns the number of skipped deliveries
 */
export async function skipHeldDeliveries({ database, clock }: Runtime, heldBefore: Date): Promise<number> {
  const before = firstIdAfter(heldBefore);
  let skipped = 0;
  for (;;) {
    const webhook = await findHeld(database.pool, { before });
    if (!webhook) return skipped;
    const { team_id: teamId, id: webhookId } = webhook;
    skipped += await database.transaction(async (trx) => {
      await lockWebhook(trx, { teamId, webhookId });
      return skip(trx, { webhookId, at: clock.now(), before });
    });
  }
}
