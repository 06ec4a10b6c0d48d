import type { EventType } from '#contract/event.ts';
import { type AttemptOutcome, type DeliveryStatus, shownAttemptsMax } from '#contract/webhook.ts';
import { dueDeliveriesChannel } from '#server/database/channels.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AttemptId, DeliveryId, EventId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { sqlDeliveryGuard, sqlNextDeliveryStatus } from '#server/webhooks/queue/delivery-status.ts';

export interface DeliveryRow {
  readonly team_id: TeamId;
  readonly id: DeliveryId;
  readonly webhook_id: WebhookId;
  readonly event_id: EventId;
  readonly event_type: EventType;
  readonly is_test: boolean;
  readonly status: DeliveryStatus;
  readonly attempt_count: number;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  /** The due time of the next attempt, while the delivery is in the queue; null otherwise. */
  readonly due_at: Date | null;
}

export interface AttemptRow {
  readonly id: AttemptId;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: AttemptOutcome;
  readonly status_code: number | null;
  readonly url: string;
  readonly response_body: Buffer | null;
  readonly response_truncated: boolean;
}

/** An attempt without its answer. */
export type AttemptSummaryRow = Omit<AttemptRow, 'response_body' | 'response_truncated'>;

export type LastAttemptRow = Pick<AttemptRow, 'outcome' | 'status_code'> & {
  readonly delivery_id: DeliveryId;
};

/** SQL columns of a delivery with the alias `d`. */
export const deliveryColumns =
  'd.team_id, d.id, d.webhook_id, d.event_id, d.event_type, d.is_test, d.status, d.attempt_count, d.created_at, d.finished_at';

export const findDelivery = query<WebhookIds & { deliveryId: DeliveryId }, DeliveryRow>(
  'deliveries.find',
  `SELECT ${deliveryColumns}, q.due_at FROM deliveries d
   LEFT JOIN due_deliveries q ON q.webhook_id = d.webhook_id AND q.delivery_id = d.id
   WHERE d.team_id = :teamId AND d.webhook_id = :webhookId AND d.id = :deliveryId`,
).row;

/** Lists the latest `shownAttemptsMax` attempts of a delivery, newest first. */
export const listLatestAttempts = query<{ teamId: TeamId; deliveryId: DeliveryId }, AttemptRow>(
  'attempts.latest',
  `SELECT id, started_at, duration_ms, outcome, status_code, url, response_body, response_truncated
   FROM attempts WHERE team_id = :teamId AND delivery_id = :deliveryId ORDER BY id DESC LIMIT ${shownAttemptsMax}`,
).rows;

/** Lists the latest attempt of each delivery; a delivery without attempts has none. */
export const listLastAttempts = query<{ teamId: TeamId; deliveryIds: DeliveryId[] }, LastAttemptRow>(
  'attempts.last-of-each',
  `SELECT a.* FROM unnest(:deliveryIds::uuid[]) AS d (delivery_id)
   CROSS JOIN LATERAL (
     SELECT a.delivery_id, a.outcome, a.status_code FROM attempts a
     WHERE a.team_id = :teamId AND a.delivery_id = d.delivery_id ORDER BY a.id DESC LIMIT 1
   ) a`,
).rows;

/** Makes a delivery pending again. @returns undefined if the delivery is pending already */
export const reopenDelivery = transactionQuery<
  { teamId: TeamId; deliveryId: DeliveryId },
  Omit<DeliveryRow, 'due_at'>
>(
  'deliveries.reopen',
  `UPDATE deliveries d SET status = ${sqlNextDeliveryStatus('redeliver')}, finished_at = NULL
   WHERE d.team_id = :teamId AND d.id = :deliveryId AND ${sqlDeliveryGuard('redeliver', 'd')} RETURNING ${deliveryColumns}`,
  { changes: 'delivery', team: ':teamId', ids: ':deliveryId' },
).row;

export const insertTestDelivery = transactionQuery<
  WebhookIds & { deliveryId: DeliveryId; eventId: EventId; eventType: EventType; createdAt: Date },
  Omit<DeliveryRow, 'due_at'>
>(
  'deliveries.insert-test',
  `INSERT INTO deliveries AS d (team_id, id, webhook_id, event_id, event_type, is_test, status, created_at)
   VALUES (:teamId, :deliveryId, :webhookId, :eventId, :eventType, true, 'pending', :createdAt) RETURNING ${deliveryColumns}`,
  { changes: 'delivery', team: ':teamId', ids: ':deliveryId' },
).one;

const queueManual = transactionQuery<
  WebhookIds & { deliveryId: DeliveryId; eventId: EventId; dueAt: Date; body: string | null },
  { due_at: Date }
>(
  'deliveries.queue-manual',
  `INSERT INTO due_deliveries (team_id, webhook_id, delivery_id, event_id, lane, due_at, body)
   VALUES (:teamId, :webhookId, :deliveryId, :eventId, 'manual', :dueAt, :body) RETURNING due_at`,
  { changes: 'delivery', team: ':teamId', ids: ':deliveryId' },
).one;

/**
 * Queues one manual attempt, which never counts as a failure of the webhook (decision 0017).
 * @param body the sample of a test delivery; null sends the envelope of the event
 */
export async function queueManualAttempt(
  trx: Transaction,
  delivery: Omit<DeliveryRow, 'due_at'>,
  dueAt: Date,
  body: string | null,
): Promise<DeliveryRow> {
  const { team_id: teamId, webhook_id: webhookId, id: deliveryId, event_id: eventId } = delivery;
  trx.notifyAfterCommit(dueDeliveriesChannel, [webhookId]);
  const queued = await queueManual(trx, { teamId, webhookId, deliveryId, eventId, dueAt, body });
  return { ...delivery, ...queued };
}
