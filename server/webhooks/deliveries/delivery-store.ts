import type { EventType } from '#contract/event.ts';
import { type AttemptOutcome, type DeliveryStatus, shownAttemptsMax } from '#contract/webhook.ts';
import { dueDeliveriesChannel } from '#server/database/channels.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { AttemptId, DeliveryId, EventId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
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

export const findDelivery = statement<
  [teamId: TeamId, webhookId: WebhookId, deliveryId: DeliveryId],
  DeliveryRow
>(
  'deliveries.find',
  `SELECT ${deliveryColumns}, q.due_at FROM deliveries d
   LEFT JOIN due_deliveries q ON q.webhook_id = d.webhook_id AND q.delivery_id = d.id
   WHERE d.team_id = $1 AND d.webhook_id = $2 AND d.id = $3`,
).row;
const latestAttempts = statement<[TeamId, DeliveryId], AttemptRow>(
  'attempts.latest',
  `SELECT id, started_at, duration_ms, outcome, status_code, url, response_body, response_truncated
   FROM attempts WHERE team_id = $1 AND delivery_id = $2 ORDER BY id DESC LIMIT ${shownAttemptsMax}`,
);
const lastAttempts = statement<[TeamId, DeliveryId[]], LastAttemptRow>(
  'attempts.last-of-each',
  `SELECT a.* FROM unnest($2::uuid[]) AS d (delivery_id)
   CROSS JOIN LATERAL (
     SELECT a.delivery_id, a.outcome, a.status_code FROM attempts a
     WHERE a.team_id = $1 AND a.delivery_id = d.delivery_id ORDER BY a.id DESC LIMIT 1
   ) a`,
);
const reopen = transactionStatement<[TeamId, DeliveryId], Omit<DeliveryRow, 'due_at'>>(
  'deliveries.reopen',
  `UPDATE deliveries d SET status = ${sqlNextDeliveryStatus('redeliver')}, finished_at = NULL
   WHERE d.team_id = $1 AND d.id = $2 AND ${sqlDeliveryGuard('redeliver', 'd')} RETURNING ${deliveryColumns}`,
  { changes: 'delivery', team: '$1', ids: '$2' },
);
const insertTest = transactionStatement<
  [TeamId, DeliveryId, WebhookId, EventId, EventType, Date],
  Omit<DeliveryRow, 'due_at'>
>(
  'deliveries.insert-test',
  `INSERT INTO deliveries AS d (team_id, id, webhook_id, event_id, event_type, is_test, status, created_at)
   VALUES ($1, $2, $3, $4, $5, true, 'pending', $6) RETURNING ${deliveryColumns}`,
  { changes: 'delivery', team: '$1', ids: '$2' },
);
const queueManual = transactionStatement<
  [TeamId, WebhookId, DeliveryId, EventId, Date, string | null],
  { due_at: Date }
>(
  'deliveries.queue-manual',
  `INSERT INTO due_deliveries (team_id, webhook_id, delivery_id, event_id, lane, due_at, body)
   VALUES ($1, $2, $3, $4, 'manual', $5, $6) RETURNING due_at`,
  { changes: 'delivery', team: '$1', ids: '$3' },
);

/** Lists the latest `shownAttemptsMax` attempts of a delivery, newest first. */
export function listLatestAttempts(
  db: Queryable,
  { team_id: teamId, id }: Pick<DeliveryRow, 'team_id' | 'id'>,
): Promise<AttemptRow[]> {
  return latestAttempts.rows(db, teamId, id);
}

/** Lists the latest attempt of each delivery; a delivery without attempts has none. */
export function listLastAttempts(
  db: Queryable,
  teamId: TeamId,
  deliveries: readonly Pick<DeliveryRow, 'id'>[],
): Promise<LastAttemptRow[]> {
  return lastAttempts.rows(
    db,
    teamId,
    deliveries.map(({ id }) => id),
  );
}

/** Makes a delivery pending again. @returns undefined if the delivery is pending already */
export function reopenDelivery(
  trx: Transaction,
  { team_id: teamId, id }: Pick<DeliveryRow, 'team_id' | 'id'>,
): Promise<Omit<DeliveryRow, 'due_at'> | undefined> {
  return reopen.row(trx, teamId, id);
}

export type NewTest = Pick<
  DeliveryRow,
  'team_id' | 'id' | 'webhook_id' | 'event_id' | 'event_type' | 'created_at'
>;

export async function insertTestDelivery(
  trx: Transaction,
  test: NewTest,
): Promise<Omit<DeliveryRow, 'due_at'>> {
  const { team_id, id, webhook_id, event_id, event_type, created_at } = test;
  const row = await insertTest.row(trx, team_id, id, webhook_id, event_id, event_type, created_at);
  if (!row) throw new Error('the INSERT of a test delivery returned no row');
  return row;
}

/**
 * Queues one manual attempt, which never counts as a failure of the webhook (decision 0017).
 * @param body the sample of a test delivery; null sends the event's stored envelope
 */
export async function queueManualAttempt(
  trx: Transaction,
  delivery: Omit<DeliveryRow, 'due_at'>,
  dueAt: Date,
  body: string | null,
): Promise<DeliveryRow> {
  const { team_id, webhook_id, id, event_id } = delivery;
  trx.notifyAfterCommit(dueDeliveriesChannel, [webhook_id]);
  const queued = await queueManual.row(trx, team_id, webhook_id, id, event_id, dueAt, body);
  return { ...delivery, due_at: queued?.due_at ?? null };
}
