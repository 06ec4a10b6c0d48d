import type { DeliveryStatus, ReplayChoice } from '#contract/webhook.ts';
import { dueDeliveriesChannel } from '#server/database/channels.ts';
import { transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { DeliveryId } from '#server/platform/ids/ids.ts';
import type { WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { deliverySteps, sqlNextDeliveryStatus } from '#server/webhooks/queue/delivery-status.ts';

/**
 * How many deliveries one round examines. A round takes some 100 ms, during which no result of the webhook's attempts
 * can be written.
 */
export const roundExaminedMax = 5_000;

/** Result of a round: the number of queued and of examined deliveries, and the last examined id. */
export interface ReplayBatch {
  readonly queued: number;
  readonly examined: number;
  readonly last_id: DeliveryId | null;
}

export interface ReplayQuery extends WebhookIds {
  /** Deliveries with ids between these two are examined; both ids are excluded. */
  readonly after: string;
  readonly before: string;
  readonly statuses: readonly DeliveryStatus[];
  readonly dueAt: Date;
}

const requeue = transactionQuery<ReplayQuery, ReplayBatch>(
  'deliveries.replay',
  // Reads in the order of the webhook's index, so that neither a long list nor wrong statistics lead to another plan.
  `WITH examined AS MATERIALIZED (
     SELECT d.id, d.status, d.is_test, d.succeeded_at FROM deliveries d
     WHERE (d.team_id, d.webhook_id, d.id) > (:teamId, :webhookId, :after) AND (d.team_id, d.webhook_id, d.id) < (:teamId, :webhookId, :before)
       AND d.id > :after AND d.id < :before
     ORDER BY d.team_id, d.webhook_id, d.id LIMIT ${roundExaminedMax}
   ),
   fitting AS MATERIALIZED (
     -- A delivery that succeeded once is not replayed, even if a later redelivery failed.
     SELECT e.id FROM examined e WHERE e.status = ANY(:statuses) AND NOT e.is_test AND e.succeeded_at IS NULL
   ),
   reopened AS (
     -- An array makes PostgreSQL find each row by its key, whatever number it expects.
     UPDATE deliveries d SET status = ${sqlNextDeliveryStatus('replay')}, finished_at = NULL
     WHERE d.team_id = :teamId AND d.id = ANY(ARRAY(SELECT id FROM fitting)) AND d.id > :after AND d.id < :before
       AND d.status = ANY(:statuses)
     RETURNING d.id, d.event_id
   ),
   queued AS (
     INSERT INTO due_deliveries (team_id, webhook_id, delivery_id, event_id, lane, due_at)
     SELECT :teamId, :webhookId, id, event_id, 'replay', :dueAt FROM reopened ORDER BY id
   )
   SELECT (SELECT count(*) FROM reopened) AS queued, (SELECT count(*) FROM examined) AS examined,
     (SELECT id FROM examined ORDER BY id DESC LIMIT 1) AS last_id`,
  { changes: 'delivery', team: ':teamId' },
);

/** The statuses of the deliveries that a replay includes. */
export const replayedStatuses: Readonly<Record<ReplayChoice, readonly DeliveryStatus[]>> = {
  failed: ['failed'],
  skipped: ['skipped'],
  all: deliverySteps.replay.from,
};

/** Makes the oldest failed or skipped deliveries of a range pending again. The caller has locked the webhook. */
export async function requeueReplayBatch(trx: Transaction, range: ReplayQuery): Promise<ReplayBatch> {
  const batch = await requeue.one(trx, range);
  if (batch.queued > 0) trx.notifyAfterCommit(dueDeliveriesChannel, [range.webhookId]);
  return batch;
}
