import { transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { DeliveryId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

/** The columns of a webhook that decide whether a result counts, read under the row's lock. */
export interface CountedWebhook {
  readonly id: WebhookId;
  readonly team_id: TeamId;
  readonly url: string;
  readonly is_active: boolean;
  readonly failure_count: number;
  readonly generation: number;
}

/**
 * Locks webhooks FOR UPDATE in the order of their ids, against changes and other writers of results. FOR UPDATE is
 * needed because a webhook at the limit skips its pending deliveries, which other writers might lock in another order.
 */
export const lockFailureCounts = transactionQuery<{ webhookIds: WebhookId[] }, CountedWebhook>(
  'webhooks.lock-failure-counts',
  `SELECT id, team_id, url, is_active, failure_count, generation FROM webhooks WHERE id = ANY (:webhookIds::uuid[])
   ORDER BY id FOR UPDATE`,
).rows;
const leased = transactionQuery<
  { webhookIds: WebhookId[]; deliveryIds: DeliveryId[]; leases: number[] },
  { delivery_id: DeliveryId }
>(
  'webhooks.find-leased',
  `SELECT d.delivery_id FROM unnest(:webhookIds::uuid[], :deliveryIds::uuid[], :leases::bigint[])
     AS i (webhook_id, delivery_id, lease)
   CROSS JOIN LATERAL (
     SELECT delivery_id FROM due_deliveries
     WHERE webhook_id = i.webhook_id AND delivery_id = i.delivery_id AND lease = i.lease FOR UPDATE
   ) d`,
);
export const writeFailureCounts = transactionQuery<
  { webhookIds: WebhookId[]; counts: number[] },
  Pick<CountedWebhook, 'team_id' | 'id'>
>(
  'webhooks.write-failure-counts',
  `UPDATE webhooks w SET failure_count = c.failure_count
   FROM unnest(:webhookIds::uuid[], :counts::smallint[]) AS c (id, failure_count) WHERE w.id = c.id RETURNING w.team_id, w.id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
).run;

export const markDisabled = transactionQuery<
  { webhookId: WebhookId; failures: number; at: Date },
  Pick<CountedWebhook, 'team_id' | 'id'>
>(
  'webhooks.disable',
  `UPDATE webhooks SET failure_count = :failures, is_active = false, disabled_at = :at, disabled_by = 'failures' WHERE id = :webhookId
   RETURNING team_id, id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
).run;

/**
 * Locks the deliveries whose lease has not ended, so that no other process can claim them before this commit.
 * @returns the ids of the locked deliveries
 */
export async function lockLeasedDeliveries(
  trx: Transaction,
  claimed: readonly Pick<ClaimedDelivery, 'webhook_id' | 'delivery_id' | 'lease'>[],
): Promise<Set<DeliveryId>> {
  const rows = await leased.rows(trx, {
    webhookIds: claimed.map(({ webhook_id }) => webhook_id),
    deliveryIds: claimed.map(({ delivery_id }) => delivery_id),
    leases: claimed.map(({ lease }) => lease),
  });
  return new Set(rows.map((row) => row.delivery_id));
}
