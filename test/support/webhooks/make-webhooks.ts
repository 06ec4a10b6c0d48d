import type { EventType } from '#contract/event.ts';
import type { AttemptOutcome, DeliveryStatus } from '#contract/webhook.ts';
import { type Id, type IdPrefix, parseId, publicId } from '#server/platform/ids/ids.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';

/** A URL that no resolver knows, so that no delivery is sent anywhere. */
export const nowhere = 'https://receiver.invalid/events';

export interface MadeWebhook {
  readonly id: string;
  readonly secret: string;
}

/** Makes a webhook. @throws if the API refuses it */
export async function newWebhook(
  api: ApiClient,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<MadeWebhook> {
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

/** Inserts a delivery in a state, as the event's transaction and its attempts write it. */
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
