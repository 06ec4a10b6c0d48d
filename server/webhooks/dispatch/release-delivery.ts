import { query } from '#server/database/query.ts';
import type { DeliveryId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import { sqlDeliveryGuard, sqlStatusAfter } from '#server/webhooks/queue/delivery-status.ts';

/** A delivery in the queue, and the lease of its claim. */
interface Leased {
  readonly webhookId: WebhookId;
  readonly deliveryId: DeliveryId;
  readonly lease: number;
}

/** Releases the lease of a claimed delivery before its attempt begins: any process may claim the delivery at once. */
export const releaseDelivery = query<Leased>(
  'webhooks.release-delivery',
  `UPDATE due_deliveries SET leased_until = NULL, lease = NULL
   WHERE webhook_id = :webhookId AND delivery_id = :deliveryId AND lease = :lease`,
).run;

/** Skips a claimed delivery whose event is no longer stored. A finished delivery keeps its status. */
export const skipDelivery = query<Leased & { at: Date }, { team_id: TeamId; id: DeliveryId }>(
  'webhooks.skip-delivery',
  `WITH gone AS (
     DELETE FROM due_deliveries WHERE webhook_id = :webhookId AND delivery_id = :deliveryId AND lease = :lease
     RETURNING team_id, delivery_id
   )
   UPDATE deliveries d SET status = ${sqlStatusAfter('skip', 'd')}, finished_at = :at
   FROM gone g WHERE d.team_id = g.team_id AND d.id = g.delivery_id AND ${sqlDeliveryGuard('skip', 'd')}
   RETURNING d.team_id, d.id`,
  { changes: 'delivery', team: 'team_id', ids: 'id' },
).run;
