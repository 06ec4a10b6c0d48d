import type { EventType } from '#contract/event.ts';
import type { DeliveryList, DeliveryLog, DeliveryStatus, ListDeliveriesQuery } from '#contract/webhook.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { findWebhook, type WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';
import { type DeliveryRow, deliveryColumns, listLastAttempts } from './delivery-store.ts';
import { deliveryView, listedDeliveryView } from './delivery-view.ts';

/** A row of a page: it matches the filters (`fits`), or it is the last delivery that the page may read (`is_bound`). */
interface PageRow extends DeliveryRow {
  readonly fits: boolean;
  readonly is_bound: boolean;
}

/**
 * Statement that reads a webhook's deliveries along an index, newest first.
 * @param order the order of that index
 * @param rows SELECT of the deliveries before :before
 */
function source(name: string, order: string, rows: string) {
  return query<
    WebhookIds & {
      before: string;
      status: DeliveryStatus | null;
      eventType: EventType | null;
      limit: number;
    },
    PageRow
  >(
    `deliveries.list-${name}`,
    `SELECT ${deliveryColumns}, d.fits, d.is_bound,
       (SELECT q.due_at FROM due_deliveries q WHERE q.webhook_id = d.webhook_id AND q.delivery_id = d.id) AS due_at
     FROM (SELECT d.*, row_number() OVER (ORDER BY ${order}) = ${deliveryPageExaminedMax} AS is_bound,
             (:status::text IS NULL OR d.status = :status) AND (:eventType::text IS NULL OR d.event_type = :eventType) AS fits
           FROM (${rows} ORDER BY ${order} LIMIT ${deliveryPageExaminedMax}) d) d
     WHERE d.fits OR d.is_bound ORDER BY ${order} LIMIT :limit`,
  ).rows;
}

// Bounds and order compare whole rows, which forces the planner to use the webhook's index.
const listByTime = source(
  'by-time',
  'd.team_id DESC, d.webhook_id DESC, d.id DESC',
  `SELECT d.* FROM deliveries d
   WHERE (d.team_id, d.webhook_id, d.id) < (:teamId, :webhookId, :before) AND d.id < :before
     AND (d.team_id, d.webhook_id, d.id) >= (:teamId, :webhookId, '00000000-0000-0000-0000-000000000000')`,
);

// Pending deliveries are read from the queue, which is far smaller than the history. OFFSET 0 makes the planner start
// with the queue.
const listPending = source(
  'pending',
  'waiting_id DESC',
  `SELECT d.*, w.delivery_id AS waiting_id
   FROM (SELECT q.delivery_id FROM due_deliveries q WHERE q.webhook_id = :webhookId AND q.delivery_id < :before
         ORDER BY q.delivery_id DESC LIMIT ${deliveryPageExaminedMax}) w
   CROSS JOIN LATERAL (SELECT d.* FROM deliveries d WHERE d.team_id = :teamId AND d.id = w.delivery_id OFFSET 0) d`,
);

/**
 * Lists a page of a webhook's deliveries, newest first (specification section 4.4).
 * @throws AppError 404; 400, param cursor, where it is not the id of a delivery
 */
export async function listDeliveries(
  services: Pick<Runtime, 'database'>,
  teamId: TeamId,
  webhookId: WebhookId,
  query: ListDeliveriesQuery,
): Promise<DeliveryList> {
  const { rows, ...page } = await readDeliveryPage(services, teamId, webhookId, query);
  return { deliveries: rows.map(deliveryView), ...page };
}

/** Lists a page like `listDeliveries`, each delivery with its latest attempt (specification section 12.3). */
export async function listDeliveryLog(
  services: Pick<Runtime, 'database'>,
  teamId: TeamId,
  webhookId: WebhookId,
  query: ListDeliveriesQuery,
): Promise<DeliveryLog> {
  const { rows, ...page } = await readDeliveryPage(services, teamId, webhookId, query);
  const attempted = rows.filter(({ attempt_count }) => attempt_count > 0);
  const deliveryIds = attempted.map(({ id }) => id);
  const last = await listLastAttempts(services.database.pages, { teamId, deliveryIds });
  const byDelivery = new Map(last.map((attempt) => [attempt.delivery_id, attempt]));
  return { deliveries: rows.map((row) => listedDeliveryView(row, byDelivery.get(row.id))), ...page };
}

function readDeliveryPage(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  webhookId: WebhookId,
  query: ListDeliveriesQuery,
) {
  const { status = null, event_type: eventType = null } = query;
  return readPage('dlv', query, async (before, limit) => {
    if (!(await findWebhook(database.pool, { teamId, webhookId }))) throw notFound('webhook');
    const list = status === 'pending' ? listPending : listByTime;
    return list(database.pages, { teamId, webhookId, before, status, eventType, limit });
  });
}
