import { type Queryable, statement } from '#server/database/statement.ts';
import type { DeliveryId } from '#server/platform/ids/ids.ts';
import { sqlStatusAfterSkip } from '#server/webhooks/queue/skip-pending.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

const release = statement<Record<string, never>>(
  'webhooks.release-delivery',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE webhook_id = $1 AND delivery_id = $2 AND lease = $3',
);
const skip = statement<Pick<ClaimedDelivery, 'team_id'> & { readonly id: DeliveryId }>(
  'webhooks.skip-delivery',
  `WITH gone AS (
     DELETE FROM due_deliveries WHERE webhook_id = $1 AND delivery_id = $2 AND lease = $3 RETURNING team_id, delivery_id
   )
   UPDATE deliveries d SET status = ${sqlStatusAfterSkip}, finished_at = $4
   FROM gone g WHERE d.team_id = g.team_id AND d.id = g.delivery_id AND d.status = 'pending'
   RETURNING d.team_id, d.id`,
  { changes: 'delivery', team: 'team_id', ids: 'id' },
);

/** Releases the lease of a claimed delivery before its attempt begins: any process may claim it at once. */
export async function releaseDelivery(db: Queryable, claimed: ClaimedDelivery): Promise<void> {
  await release.row(db, claimed.webhook_id, claimed.delivery_id, claimed.lease);
}

/**
 * Skips a claimed delivery whose event is not stored: there is nothing to send. A delivery that
 * has ended keeps its status.
 */
export async function skipDelivery(db: Queryable, claimed: ClaimedDelivery, at: Date): Promise<void> {
  await skip.row(db, claimed.webhook_id, claimed.delivery_id, claimed.lease, at);
}
