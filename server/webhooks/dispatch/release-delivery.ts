import { type Queryable, statement } from '#server/database/statement.ts';
import type { DeliveryId, WebhookId } from '#server/platform/ids/ids.ts';
import { sqlDeliveryGuard, sqlStatusAfter } from '#server/webhooks/queue/delivery-status.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

const release = statement<[WebhookId, DeliveryId, number]>(
  'webhooks.release-delivery',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE webhook_id = $1 AND delivery_id = $2 AND lease = $3',
);
const skip = statement<
  [WebhookId, DeliveryId, number, Date],
  Pick<ClaimedDelivery, 'team_id'> & { readonly id: DeliveryId }
>(
  'webhooks.skip-delivery',
  `WITH gone AS (
     DELETE FROM due_deliveries WHERE webhook_id = $1 AND delivery_id = $2 AND lease = $3 RETURNING team_id, delivery_id
   )
   UPDATE deliveries d SET status = ${sqlStatusAfter('skip', 'd')}, finished_at = $4
   FROM gone g WHERE d.team_id = g.team_id AND d.id = g.delivery_id AND ${sqlDeliveryGuard('skip', 'd')}
   RETURNING d.team_id, d.id`,
  { changes: 'delivery', team: 'team_id', ids: 'id' },
);

/** Releases the lease of a claimed delivery before its attempt begins: any process may claim the delivery at once. */
export async function releaseDelivery(db: Queryable, claimed: ClaimedDelivery): Promise<void> {
  await release.run(db, claimed.webhook_id, claimed.delivery_id, claimed.lease);
}

/** Skips a claimed delivery whose event is no longer stored. A finished delivery keeps its status. */
export async function skipDelivery(db: Queryable, claimed: ClaimedDelivery, at: Date): Promise<void> {
  await skip.run(db, claimed.webhook_id, claimed.delivery_id, claimed.lease, at);
}
