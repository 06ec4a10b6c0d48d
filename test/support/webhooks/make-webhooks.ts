import type { EventType } from '#contract/event.ts';
import type { AttemptOutcome, DeliveryStatus } from '#contract/webhook.ts';
import {
  type DeliveryId,
  type Id,
  type IdPrefix,
  parseId,
  publicId,
  type TeamId,
  type WebhookId,
} from '#server/platform/ids.ts';
import { changeBy, changeOneBy, countBy } from '#test/support/database/statement.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

/** A URL that no resolver knows, so that no delivery is sent anywhere. */
export const nowhere = 'https://receiver.invalid/events';

export type MadeWebhook = Awaited<ReturnType<typeof newWebhook>>;

/** Makes a webhook. @throws if the API refuses it */
export async function newWebhook(api: ApiClient, fields: Readonly<Record<string, unknown>> = {}) {
  const answer = await api.post('/v1/webhooks', { url: nowhere, events: ['message.received'], ...fields });
  if (answer.status !== 201) throw new Error(`POST /v1/webhooks answered ${answer.status}: ${answer.text}`);
  return { id: String(answer.json.id), secret: String(answer.json.secret) };
}

interface DeliveryOptions {
  readonly status?: DeliveryStatus;
  readonly eventType?: EventType;
  readonly isTest?: boolean;
  /** Moves the time of the delivery; negative is earlier. */
  readonly ageMs?: number;
}

/** Inserts a delivery in a given state, with the rows that its event and its attempts would have written. */
export async function newDelivery(
  { runtime }: Pick<TestService, 'runtime'>,
  team: Pick<TestTeam, 'id'>,
  webhookId: string,
  { status = 'failed', eventType = 'message.received', isTest = false, ageMs = 0 }: DeliveryOptions = {},
): Promise<string> {
  const at = new Date(runtime.clock.nowMs() - ageMs);
  const id = idAt(runtime.ids.next('dlv'), at);
  const finishedAt = status === 'pending' ? null : at;
  const values = [
    team.id,
    id,
    uuidOf('wh', webhookId),
    runtime.ids.next('evt'),
    eventType,
    isTest,
    status,
    at,
  ];
  await runtime.database.pool.query(
    `WITH made AS (
       INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, is_test, status, created_at, finished_at,
         succeeded_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, CASE WHEN $7 = 'succeeded' THEN $9::timestamptz END) RETURNING *
     )
     INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
     SELECT webhook_id, id, team_id, event_id, created_at FROM made WHERE status = 'pending'`,
    [...values, finishedAt],
  );
  return publicId('dlv', id);
}

interface AttemptOptions {
  readonly outcome?: AttemptOutcome;
  readonly statusCode?: number | null;
  readonly body?: Buffer | null;
  readonly truncated?: boolean;
  readonly url?: string;
}

/** Inserts a finished attempt of a delivery. @returns the id of the attempt */
export async function newAttempt(
  { runtime }: Pick<TestService, 'runtime'>,
  team: Pick<TestTeam, 'id'>,
  deliveryId: string,
  options: AttemptOptions = {},
): Promise<string> {
  const { outcome = 'http_5xx', statusCode = 500, body = null, truncated = false, url = nowhere } = options;
  const id = runtime.ids.next('att');
  await runtime.database.pool.query(
    `WITH tried AS (
       UPDATE deliveries SET attempt_count = attempt_count + 1,
         succeeded_at = CASE WHEN $5 = 'succeeded' THEN $4 ELSE succeeded_at END
       WHERE team_id = $1 AND id = $2 RETURNING id
     )
     INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, status_code, url,
       response_body, response_truncated, is_counted)
     SELECT $1, $2, $3, $4, 12, $5, $6, $7, $8, $9, true FROM tried`,
    [team.id, uuidOf('dlv', deliveryId), id, runtime.clock.now(), outcome, statusCode, url, body, truncated],
  );
  return publicId('att', id);
}

/** UUID of a public id. */
export function uuidOf<P extends IdPrefix>(prefix: P, text: string): Id<P> {
  const id = parseId(prefix, text);
  if (!id) throw new Error(`"${text}" is no id of a webhook`);
  return id;
}

/** Replaces the time in an id. */
function idAt<P extends IdPrefix>(id: Id<P>, at: Date): Id<P> {
  const hex = at.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}` as Id<P>;
}

/** Inserts deliveries, oldest first by their ids. Pending ones are in the queue. */
export async function queueMany(
  { runtime }: Pick<TestService, 'runtime'>,
  team: Pick<TestTeam, 'id'>,
  webhookId: string,
  count: number,
  status: DeliveryStatus = 'pending',
): Promise<void> {
  await runtime.database.pool.query(
    `WITH made AS (
       INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at, succeeded_at)
       SELECT $1, (substr($3, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, $2, $3::uuid, 'message.sent', $6::text, $5::timestamptz,
         CASE WHEN $6 <> 'pending' THEN $5::timestamptz END, CASE WHEN $6 = 'succeeded' THEN $5::timestamptz END
       FROM generate_series(1, $4) AS n RETURNING *
     )
     INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
     SELECT webhook_id, id, team_id, event_id, created_at FROM made WHERE status = 'pending' ORDER BY id`,
    [team.id, uuidOf('wh', webhookId), runtime.ids.next('evt'), count, runtime.clock.now(), status],
  );
}

/** Inserts `count` attempts of a delivery at the present time. */
export async function putAttempts(
  { runtime, clock, query }: Pick<TestService, 'runtime' | 'clock' | 'query'>,
  teamId: TeamId,
  deliveryId: DeliveryId,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, () => runtime.ids.next('att'));
  await query(
    `INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, url, response_body, is_counted)
     SELECT team_id, id, attempt, $3, 5, 'succeeded', 'https://hooks.example.com/', 'ok', true
     FROM deliveries, unnest($4::uuid[]) AS attempt WHERE team_id = $1 AND id = $2`,
    [teamId, deliveryId, clock.now(), ids],
  );
}

/** Number of stored attempts of a team. */
export const countAttempts = countBy<[teamId: TeamId]>('SELECT FROM attempts WHERE team_id = $1');

/** Sets a webhook's number of failed attempts in a row. */
export const setFailureCount = changeOneBy<[webhookId: WebhookId, failures: number]>(
  'UPDATE webhooks SET failure_count = $2 WHERE id = $1',
);

/** Disables a webhook as its tenth failed attempt in a row does, without changing its deliveries. */
export const disableByFailures = (service: Pick<TestService, 'query' | 'clock'>, webhookId: WebhookId) =>
  disableAt(service, webhookId, service.clock.now());
const disableAt = changeOneBy<[webhookId: WebhookId, at: Date]>(
  `UPDATE webhooks SET failure_count = 10, is_active = false, disabled_at = $2, disabled_by = 'failures'
   WHERE id = $1`,
);

interface WebhookOptions {
  readonly phoneNumber?: string;
  readonly isActive?: boolean;
  /** Reason why the webhook is disabled; undefined for an active one. */
  readonly disabledBy?: 'member' | 'failures';
  readonly failureCount?: number;
}

/** Inserts a webhook, whose URL is never called. */
export async function putWebhook(
  { runtime, query }: Pick<TestService, 'runtime' | 'query'>,
  teamId: TeamId,
  events: readonly EventType[],
  { phoneNumber, isActive = true, disabledBy = 'member', failureCount = 0 }: WebhookOptions = {},
): Promise<{ readonly id: WebhookId; readonly publicId: string }> {
  const id = runtime.ids.next('wh');
  const now = runtime.clock.now();
  await query(
    `INSERT INTO webhooks (team_id, id, url, events, phone_number, is_active, disabled_at, disabled_by, secret, created_at, failure_count)
     VALUES ($1, $2, 'https://hooks.example.com/', $3, $4, $5, $6, $7, 'none', $8, $9)`,
    [
      teamId,
      id,
      events,
      phoneNumber ?? null,
      isActive,
      isActive ? null : now,
      isActive ? null : disabledBy,
      now,
      failureCount,
    ],
  );
  return { id, publicId: publicId('wh', id) };
}

/** Changes the events of a webhook, not its deliveries. */
export const setSubscription = changeBy<
  [webhookId: WebhookId, types: readonly EventType[], phoneNumber?: string]
>('UPDATE webhooks SET events = $2, phone_number = $3 WHERE id = $1');

/** Enables or disables a webhook without changing its deliveries. */
export const switchSubscription = changeBy<[webhookId: WebhookId, isActive: boolean]>(
  `UPDATE webhooks SET is_active = $2, disabled_at = CASE WHEN NOT $2 THEN created_at END,
     disabled_by = CASE WHEN NOT $2 THEN 'member' END WHERE id = $1`,
);

/** Deletes a webhook, not its deliveries. */
export const removeSubscription = changeBy<[webhookId: WebhookId]>('DELETE FROM webhooks WHERE id = $1');
