import {
  type DeliveryStatus,
  type ReplayChoice,
  type ReplayRequest,
  replayedMax,
} from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { dueDeliveriesChannel } from '#server/database/channels.ts';
import { transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { type DeliveryId, firstIdAt, publicId } from '#server/platform/ids.ts';
import { parseTimestamp } from '#server/platform/time/calendar.ts';
import {
  lockWebhook,
  type WebhookIds,
  type WebhookTarget,
} from '#server/webhooks/endpoints/webhook-store.ts';
import { deliverySteps, sqlNextDeliveryStatus } from '#server/webhooks/queue/delivery-status.ts';

/**
 * Parses the range of a replay, which ends before `until`, or now. The id of a delivery contains the time of its event.
 * @returns ids that bound the deliveries of the range
 * @throws AppError 400, param since or until
 */
function parseReplayBounds(
  { since, until }: Pick<ReplayRequest, 'since' | 'until'>,
  now: Date,
): { readonly after: string; readonly before: string } {
  const sinceMs = readMoment('since', since);
  // Without `until`, the range has to include events of the current millisecond.
  const untilMs = until === undefined ? now.getTime() + 1 : readMoment('until', until);
  if (until !== undefined && untilMs <= sinceMs) throw invalid('until', 'until must be later than since.');
  return { after: firstIdAt(sinceMs), before: firstIdAt(untilMs) };
}

function readMoment(name: string, text: string): number {
  const moment = parseTimestamp(text);
  if (moment) return moment.getTime();
  throw invalid(
    name,
    `${name} must be a date and time in ISO 8601 with Z or an offset, such as 2026-11-21T09:30:00.000Z.`,
  );
}

/**
 * How many deliveries one round examines. A round takes some 100 ms, during which no result of the webhook's attempts
 * can be written.
 */
export const roundExaminedMax = 5_000;

/** Result of a round: the number of queued and of examined deliveries, and the last examined id. */
interface ReplayBatch {
  readonly queued: number;
  readonly examined: number;
  readonly last_id: DeliveryId | null;
}

interface ReplayQuery extends WebhookIds {
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
     WHERE d.team_id = :teamId AND d.id = ANY(ARRAY(SELECT id FROM fitting)) AND d.status = ANY(:statuses)
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
const replayedStatuses: Readonly<Record<ReplayChoice, readonly DeliveryStatus[]>> = {
  failed: ['failed'],
  skipped: ['skipped'],
  all: deliverySteps.replay.from,
};

/**
 * Replay: makes failed and skipped deliveries pending again, oldest first, behind current ones (specification section
 * 4.4). Each round of `roundExaminedMax` deliveries is a transaction, so that other transactions wait only shortly.
 * Queued deliveries stay queued if this request fails. The replay ends at `replayedMax`, or when the webhook is
 * disabled meanwhile.
 * @returns the number of queued deliveries
 * @throws AppError 400, param since or until; 404; 409 for a disabled webhook
 */
export async function replayDeliveries(
  services: Runtime,
  target: WebhookTarget,
  request: ReplayRequest,
): Promise<number> {
  const { teamId, webhookId } = target;
  const dueAt = services.clock.now();
  const statuses = replayedStatuses[request.only];
  const range = { ...parseReplayBounds(request, dueAt), teamId, webhookId, statuses, dueAt };
  let queued = 0;
  let after: string | null = range.after;
  for (let isFirst = true; after !== null && queued < replayedMax; isFirst = false) {
    const noted = isFirst ? request : undefined;
    const done: ReplayBatch = await oneRound(services, target, { ...range, after }, noted);
    queued += done.queued;
    after = done.examined < roundExaminedMax ? null : done.last_id;
  }
  return queued;
}

/**
 * Makes the oldest failed or skipped deliveries of a range pending again.
 * @param noted the request for the audit log; undefined in later rounds. If the webhook is disabled, the first round
 * throws, and a later round queues nothing.
 */
function oneRound(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
  range: ReplayQuery,
  noted: ReplayRequest | undefined,
): Promise<ReplayBatch> {
  return services.database.transaction(async (trx) => {
    // FOR UPDATE makes late results of skipped deliveries wait until the round has ended.
    const webhook = await lockWebhook(trx, range);
    if (!webhook && noted) throw notFound('webhook');
    if (!webhook?.is_active) {
      if (!noted) return { queued: 0, examined: 0, last_id: null };
      throw conflict(
        'This webhook is switched off. Switch it on with PUT /v1/webhooks/:id and active true, then replay.',
      );
    }
    if (noted) {
      const [target, details] = [publicId('wh', webhookId), { ...noted }];
      await recordAudit(trx, services, { by, action: 'webhook.replayed', teamId, target, details });
    }
    const batch = await requeue.one(trx, range);
    if (batch.queued > 0) trx.notifyAfterCommit(dueDeliveriesChannel, [webhookId]);
    return batch;
  });
}
