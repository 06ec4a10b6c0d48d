import { failuresMax } from '#contract/webhook.ts';
import type { LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type EnvelopeColumns, envelopeOf } from '#server/events/append-events.ts';
import { notFound } from '#server/platform/app-error.ts';
import {
  type DeliveryId,
  type EventId,
  firstIdAfter,
  idMax,
  publicId,
  type TeamId,
  type WebhookId,
} from '#server/platform/ids.ts';
import {
  type AttemptSummaryRow,
  attemptSummaryView,
  type DeliveryRow,
} from '#server/webhooks/deliveries/deliveries.ts';
import { findMissedSince } from '#server/webhooks/endpoints/find-missed-since.ts';
import { findWebhook, type WebhookIds } from '#server/webhooks/endpoints/webhook-store.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';

/** A failed attempt without the body of its answer. */
type FailedAttemptRow = AttemptSummaryRow & { readonly delivery_id: DeliveryId };

/** The latest attempt of a webhook. */
interface WebhookAttemptRow extends AttemptSummaryRow {
  readonly webhook_id: WebhookId;
  readonly is_test: boolean;
}

/** Upper bound on compared deliveries: the newest ones with an attempt, and those whose retry is due next. */
const comparedMax = 50;

/** The longest time from the start of an attempt until its result is written; WEBHOOK_TIMEOUT_MS is 30 s at most. */
const longestAttemptMs = 60_000;

// Finds the latest failed attempt among deliveries before `end` that have not succeeded.
// During a backlog the newest deliveries have no attempt yet, but those in the lane retry do.
const findLastFailure = query<WebhookIds & { end: string }, FailedAttemptRow>(
  'webhooks.find-last-failure',
  `SELECT a.* FROM (
     SELECT id FROM (
       SELECT l.id FROM (
         SELECT d.id, d.status, d.is_test, d.attempt_count FROM deliveries d
         WHERE (d.team_id, d.webhook_id, d.id) < (:teamId, :webhookId, :end) AND d.id < :end
           AND (d.team_id, d.webhook_id, d.id) >= (:teamId, :webhookId, '00000000-0000-0000-0000-000000000000')
         ORDER BY d.team_id DESC, d.webhook_id DESC, d.id DESC LIMIT ${deliveryPageExaminedMax}
       ) l
       WHERE l.attempt_count > 0 AND l.status <> 'succeeded' AND NOT l.is_test LIMIT ${comparedMax}
     ) newest
     UNION
     SELECT delivery_id FROM (
       SELECT delivery_id FROM due_deliveries WHERE webhook_id = :webhookId AND lane = 'retry' AND team_id = :teamId
       ORDER BY due_at, seq LIMIT ${comparedMax}
     ) retried
   ) d
   CROSS JOIN LATERAL (
     SELECT a.delivery_id, a.id, a.started_at, a.duration_ms, a.outcome, a.status_code, a.url FROM attempts a
     WHERE a.team_id = :teamId AND a.delivery_id = d.id
     ORDER BY a.id DESC LIMIT 1
   ) a
   WHERE a.outcome <> 'succeeded' ORDER BY a.id DESC LIMIT 1`,
).row;
// Finds when the ten failures in a row began that disabled a webhook: the ten newest attempts that counted before it was
// disabled. It reads the newest deliveries only. So the time is null if the ten were attempts of older, replayed ones.
const findFailingSince = query<WebhookIds & { end: string; disabledAt: Date }, { since: Date | null }>(
  'webhooks.find-failing-since',
  `SELECT CASE WHEN count(*) = ${failuresMax} AND max(a.started_at) > :disabledAt::timestamptz - interval '${longestAttemptMs} ms' THEN min(a.started_at) END AS since
   FROM (
     SELECT a.started_at FROM (
       SELECT id FROM (
         SELECT d.id, d.is_test, d.attempt_count FROM deliveries d
         WHERE (d.team_id, d.webhook_id, d.id) < (:teamId, :webhookId, :end) AND d.id < :end
           AND (d.team_id, d.webhook_id, d.id) >= (:teamId, :webhookId, '00000000-0000-0000-0000-000000000000')
         ORDER BY d.team_id DESC, d.webhook_id DESC, d.id DESC LIMIT ${deliveryPageExaminedMax}
       ) l
       WHERE l.attempt_count > 0 AND NOT l.is_test LIMIT ${comparedMax}
     ) d
     CROSS JOIN LATERAL (
       SELECT a.id, a.started_at FROM attempts a
       WHERE a.team_id = :teamId AND a.delivery_id = d.id AND a.is_counted AND a.started_at <= :disabledAt
       ORDER BY a.team_id, a.delivery_id, a.id OFFSET 0
     ) a
     ORDER BY a.id DESC LIMIT ${failuresMax}
   ) a`,
).one;

/** Lists for each webhook of a team the latest attempt of the newest delivery that was tried. */
const listLastAttempts = query<{ teamId: TeamId }, WebhookAttemptRow>(
  'webhooks.list-last-attempts',
  `SELECT w.id AS webhook_id, d.is_test, a.id, a.started_at, a.duration_ms, a.outcome, a.status_code, a.url
   FROM webhooks w
   CROSS JOIN LATERAL (
     SELECT l.id, l.is_test FROM (
       SELECT d.id, d.is_test, d.attempt_count FROM deliveries d
       WHERE (d.team_id, d.webhook_id, d.id) >= (:teamId, w.id, '00000000-0000-0000-0000-000000000000')
         AND (d.team_id, d.webhook_id, d.id) <= (:teamId, w.id, '${idMax}')
       ORDER BY d.team_id DESC, d.webhook_id DESC, d.id DESC LIMIT ${comparedMax}
     ) l
     WHERE l.attempt_count > 0 LIMIT 1
   ) d
   CROSS JOIN LATERAL (
     SELECT a.id, a.started_at, a.duration_ms, a.outcome, a.status_code, a.url FROM attempts a
     WHERE a.team_id = :teamId AND a.delivery_id = d.id
     ORDER BY a.id DESC LIMIT 1
   ) a
   WHERE w.team_id = :teamId`,
).rows;

type RequestBodyRow =
  | { readonly body: string }
  | ({ readonly body: null } & EnvelopeColumns)
  | { readonly body: null; readonly data: null };

const findBody = query<WebhookIds & { id: DeliveryId; eventId: EventId }, RequestBodyRow>(
  'webhooks.find-request-body',
  // A test delivery has no event: its body is the sample in the queue.
  `SELECT q.body, e.* FROM (SELECT) one
   LEFT JOIN LATERAL (
     SELECT body FROM due_deliveries WHERE webhook_id = :webhookId AND delivery_id = :id AND team_id = :teamId AND body IS NOT NULL
   ) q ON true
   LEFT JOIN LATERAL (
     SELECT team_id, id, type, sequence, created_at, data FROM events WHERE team_id = :teamId AND id = :eventId
   ) e ON true`,
).one;

/** The request body of a delivery: that of its event, or the sample of a waiting test; null if none is stored. */
export async function findRequestBody(db: Queryable, delivery: DeliveryRow): Promise<string | null> {
  const { team_id: teamId, webhook_id: webhookId, id, event_id: eventId } = delivery;
  const found = await findBody(db, { teamId, webhookId, id, eventId });
  return found.body ?? (found.data === null ? null : envelopeOf(found));
}

/**
 * Reads why a webhook fails or is off, and since when it may have missed events. It reads
 * at most as many deliveries as a page of the webhook's log.
 * @throws AppError 404
 */
export async function getWebhookHealth(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  webhookId: WebhookId,
): Promise<WebhookHealth> {
  const ids = { teamId, webhookId };
  const webhook = await findWebhook(pages, ids);
  if (!webhook) throw notFound('webhook');
  const { is_active: isActive, disabled_at: at, disabled_by: by } = webhook;
  // Events after the webhook was switched off have no attempts.
  const end = at === null ? idMax : firstIdAfter(at);
  const failure = await findLastFailure(pages, { ...ids, end: isActive ? idMax : end });
  const { since, missed } = await findMissedSince(pages, ids);
  const failing =
    at !== null && by === 'failures' ? await findFailingSince(pages, { ...ids, end, disabledAt: at }) : null;
  return {
    switched_off:
      isActive || at === null
        ? null
        : {
            at: at.toISOString(),
            by: by === 'failures' ? 'failures' : 'request',
            failing_since: failing?.since?.toISOString() ?? null,
          },
    last_failure: failure
      ? { ...attemptSummaryView(failure), delivery_id: publicId('dlv', failure.delivery_id) }
      : null,
    missed_since: since?.toISOString() ?? null,
    missed,
  };
}

/** Lists the latest attempt of each webhook of a team, test events included. */
export async function getLastAttempts(
  { database: { pages } }: Runtime,
  teamId: TeamId,
): Promise<LastAttempts> {
  const attempts = await listLastAttempts(pages, { teamId });
  return {
    last_attempts: attempts.map((attempt) => ({
      ...attemptSummaryView(attempt),
      webhook_id: publicId('wh', attempt.webhook_id),
      test: attempt.is_test,
    })),
  };
}
