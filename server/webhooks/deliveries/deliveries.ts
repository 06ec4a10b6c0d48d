import { attemptFailures } from '#contract/attempt-outcome.ts';
import type { EventType } from '#contract/event.ts';
import {
  type Attempt,
  type AttemptOutcome,
  type AttemptSummary,
  type Delivery,
  type DeliveryDetail,
  type DeliveryList,
  type DeliveryLog,
  type DeliveryStatus,
  type ListDeliveriesQuery,
  shownAttemptsMax,
} from '#contract/webhook.ts';
import {
  type Scanned,
  type ScannedRows,
  sqlBoundedScan,
  sqlRowsAlong,
} from '#server/database/bounded-scan.ts';
import { dueDeliveriesChannel } from '#server/database/channels.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import {
  type AttemptId,
  type DeliveryId,
  type EventId,
  publicId,
  type TeamId,
  type WebhookId,
} from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { findWebhook, type WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';
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

interface AttemptRow {
  readonly id: AttemptId;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: AttemptOutcome;
  readonly status_code: number | null;
  readonly url: string;
  readonly response_body: Buffer | null;
  readonly response_truncated: boolean;
}

/** An attempt without the body of its response. */
export type AttemptSummaryRow = Omit<AttemptRow, 'response_body' | 'response_truncated'>;

type LastAttemptRow = Pick<AttemptRow, 'outcome' | 'status_code'> & { readonly delivery_id: DeliveryId };

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
const listLastAttempts = query<{ teamId: TeamId; deliveryIds: DeliveryId[] }, LastAttemptRow>(
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

const time = (moment: Date | null) => moment?.toISOString() ?? null;

/** The Delivery object of the API (specification section 4.4). */
export function deliveryView(delivery: DeliveryRow): Delivery {
  return {
    id: publicId('dlv', delivery.id),
    webhook_id: publicId('wh', delivery.webhook_id),
    event_id: publicId('evt', delivery.event_id),
    event_type: delivery.event_type,
    test: delivery.is_test,
    status: delivery.status,
    attempt_count: delivery.attempt_count,
    next_attempt_at: time(delivery.due_at),
    created_at: delivery.created_at.toISOString(),
    finished_at: time(delivery.finished_at),
  };
}

/** @param attempts newest first */
export function deliveryDetailView(delivery: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryDetail {
  return { ...deliveryView(delivery), attempts: attempts.toReversed().map(attemptView) };
}

function attemptView(attempt: AttemptRow): Attempt {
  const { response_body: body } = attempt;
  return {
    ...attemptSummaryView(attempt),
    // Invalid UTF-8, and a character cut in two at the end, becomes U+FFFD.
    response_body: body === null ? null : body.toString('utf8'),
    response_truncated: attempt.response_truncated,
  };
}

/** An attempt without the body of the response. */
export function attemptSummaryView(attempt: AttemptSummaryRow): AttemptSummary {
  const { outcome } = attempt;
  return {
    id: publicId('att', attempt.id),
    started_at: attempt.started_at.toISOString(),
    duration_ms: attempt.duration_ms,
    outcome,
    error_message: outcome === 'succeeded' ? null : attemptFailures[outcome],
    status_code: attempt.status_code,
    url: attempt.url,
  };
}

function defineScan(name: string, rows: ScannedRows) {
  const columns = `${deliveryColumns},
    (SELECT q.due_at FROM due_deliveries q WHERE q.webhook_id = d.webhook_id AND q.delivery_id = d.id) AS due_at`;
  const scan = sqlBoundedScan(rows, columns, {
    fits: `(:status::text IS NULL OR d.status = :status) AND (:eventType::text IS NULL OR d.event_type = :eventType)`,
    examinedMax: deliveryPageExaminedMax,
    limit: ':limit',
  });
  return query<
    WebhookIds & {
      before: string;
      status: DeliveryStatus | null;
      eventType: EventType | null;
      limit: number;
    },
    DeliveryRow & Scanned
  >(`deliveries.list-${name}`, scan).rows;
}

const listByTime = defineScan(
  'by-time',
  sqlRowsAlong('deliveries', 'd', 'webhook_id', deliveryColumns, [':teamId', ':webhookId', ':before']),
);

// Pending deliveries are read from the queue, which is far smaller than the table of deliveries. OFFSET 0 makes the
// planner start with the queue.
const listPending = defineScan('pending', {
  alias: 'd',
  order: 'waiting_id DESC',
  rows: `SELECT ${deliveryColumns}, w.delivery_id AS waiting_id
    FROM (SELECT q.delivery_id FROM due_deliveries q WHERE q.webhook_id = :webhookId AND q.delivery_id < :before
          ORDER BY q.delivery_id DESC LIMIT ${deliveryPageExaminedMax}) w
    CROSS JOIN LATERAL (SELECT ${deliveryColumns} FROM deliveries d WHERE d.team_id = :teamId AND d.id = w.delivery_id OFFSET 0) d`,
});

/**
 * Lists a page of a webhook's deliveries, newest first (specification section 4.4).
 * @throws AppError 404; 400, param cursor, if it is not the id of a delivery
 */
export async function listDeliveries(
  services: Runtime,
  webhook: WebhookIds,
  query: ListDeliveriesQuery,
): Promise<DeliveryList> {
  const { rows, ...page } = await readDeliveryPage(services, webhook, query);
  return { deliveries: rows.map(deliveryView), ...page };
}

/** Lists a page like `listDeliveries`, each delivery with its latest attempt. */
export async function listDeliveryLog(
  services: Runtime,
  webhook: WebhookIds,
  query: ListDeliveriesQuery,
): Promise<DeliveryLog> {
  const { rows, ...page } = await readDeliveryPage(services, webhook, query);
  const attempted = rows.filter(({ attempt_count }) => attempt_count > 0);
  const deliveryIds = attempted.map(({ id }) => id);
  const last = await listLastAttempts(services.database.pages, { teamId: webhook.teamId, deliveryIds });
  const byDelivery = new Map(last.map(({ delivery_id, ...attempt }) => [delivery_id, attempt]));
  const deliveries = rows.map((row) => ({
    ...deliveryView(row),
    last_attempt: byDelivery.get(row.id) ?? null,
  }));
  return { deliveries, ...page };
}

function readDeliveryPage({ database }: Runtime, webhook: WebhookIds, query: ListDeliveriesQuery) {
  const { status = null, event_type: eventType = null } = query;
  return readPage('dlv', query, async (before, limit) => {
    if (!(await findWebhook(database.pool, webhook))) throw notFound('webhook');
    const list = status === 'pending' ? listPending : listByTime;
    return list(database.pages, { ...webhook, before, status, eventType, limit });
  });
}
