import type { EventType } from '#contract/event.ts';
import type { DeliveryList, DeliveryLog, DeliveryStatus, ListDeliveriesQuery } from '#contract/webhook.ts';
import {
  type Scanned,
  type ScannedRows,
  sqlBoundedScan,
  sqlRowsAlong,
} from '#server/database/bounded-scan.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { readPage } from '#server/platform/paging.ts';
import { findWebhook, type WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';
import { type DeliveryRow, deliveryColumns, listLastAttempts } from './delivery-store.ts';
import { deliveryView, listedDeliveryView } from './delivery-view.ts';

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
  sqlRowsAlong('deliveries', 'd', 'webhook_id', [':teamId', ':webhookId', ':before']),
);

// Pending deliveries are read from the queue, which is far smaller than the history. OFFSET 0 makes the planner start
// with the queue.
const listPending = defineScan('pending', {
  alias: 'd',
  order: 'waiting_id DESC',
  rows: `SELECT d.*, w.delivery_id AS waiting_id
    FROM (SELECT q.delivery_id FROM due_deliveries q WHERE q.webhook_id = :webhookId AND q.delivery_id < :before
          ORDER BY q.delivery_id DESC LIMIT ${deliveryPageExaminedMax}) w
    CROSS JOIN LATERAL (SELECT d.* FROM deliveries d WHERE d.team_id = :teamId AND d.id = w.delivery_id OFFSET 0) d`,
});

/**
 * Lists a page of a webhook's deliveries, newest first (specification section 4.4).
 * @throws AppError 404; 400, param cursor, where it is not the id of a delivery
 */
export async function listDeliveries(
  services: Pick<Runtime, 'database'>,
  webhook: WebhookIds,
  query: ListDeliveriesQuery,
): Promise<DeliveryList> {
  const { rows, ...page } = await readDeliveryPage(services, webhook, query);
  return { deliveries: rows.map(deliveryView), ...page };
}

/** Lists a page like `listDeliveries`, each delivery with its latest attempt (specification section 12.3). */
export async function listDeliveryLog(
  services: Pick<Runtime, 'database'>,
  webhook: WebhookIds,
  query: ListDeliveriesQuery,
): Promise<DeliveryLog> {
  const { rows, ...page } = await readDeliveryPage(services, webhook, query);
  const attempted = rows.filter(({ attempt_count }) => attempt_count > 0);
  const deliveryIds = attempted.map(({ id }) => id);
  const last = await listLastAttempts(services.database.pages, { teamId: webhook.teamId, deliveryIds });
  const byDelivery = new Map(last.map((attempt) => [attempt.delivery_id, attempt]));
  return { deliveries: rows.map((row) => listedDeliveryView(row, byDelivery.get(row.id))), ...page };
}

function readDeliveryPage(
  { database }: Pick<Runtime, 'database'>,
  webhook: WebhookIds,
  query: ListDeliveriesQuery,
) {
  const { status = null, event_type: eventType = null } = query;
  return readPage('dlv', query, async (before, limit) => {
    if (!(await findWebhook(database.pool, webhook))) throw notFound('webhook');
    const list = status === 'pending' ? listPending : listByTime;
    return list(database.pages, { ...webhook, before, status, eventType, limit });
  });
}
