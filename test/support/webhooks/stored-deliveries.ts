import type { EventType } from '#contract/event.ts';
import type { AttemptOutcome, DeliveryStatus } from '#contract/webhook.ts';
import type { AttemptId, DeliveryId, EventId, MessageId, TeamId, WebhookId } from '#server/platform/ids.ts';
import { countBy, rowsBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

type Service = Pick<TestService, 'query'>;

interface Webhook {
  readonly id: WebhookId;
}

export interface StoredDelivery {
  readonly id: DeliveryId;
  readonly eventId: EventId;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** Deliveries of a webhook, oldest first. */
export function deliveriesOf({ query }: Service, webhook: Webhook): Promise<StoredDelivery[]> {
  return query<StoredDelivery>(
    `SELECT id, event_id AS "eventId", status, attempt_count AS "attemptCount", created_at AS "createdAt",
       finished_at AS "finishedAt"
     FROM deliveries WHERE webhook_id = $1 ORDER BY id`,
    [webhook.id],
  );
}

export interface StoredAttempt {
  readonly id: AttemptId;
  readonly deliveryId: DeliveryId;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly url: string;
  readonly responseBody: Buffer | null;
  readonly responseTruncated: boolean;
  /** True if the attempt counted as a success or a failure of the webhook. */
  readonly isCounted: boolean;
}

/** Attempts of all deliveries of a webhook, oldest first. */
export function attemptsOf({ query }: Service, webhook: Webhook): Promise<StoredAttempt[]> {
  return query<StoredAttempt>(
    `SELECT id, delivery_id AS "deliveryId", started_at AS "startedAt", duration_ms AS "durationMs", outcome,
       status_code AS "statusCode", url, response_body AS "responseBody", response_truncated AS "responseTruncated",
       is_counted AS "isCounted"
     FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE webhook_id = $1) ORDER BY id`,
    [webhook.id],
  );
}

export type Lane = 'live' | 'retry' | 'replay' | 'manual';

export interface DueDelivery {
  readonly webhookId: WebhookId;
  readonly deliveryId: DeliveryId;
  readonly teamId: TeamId;
  readonly lane: Lane;
  /** Number of the due attempt, from 1. */
  readonly attempt: number;
  readonly dueAt: Date;
  readonly firstStartedAt: Date | null;
  /** Number of the process that makes the attempt; null without a lease. */
  readonly lease: number | null;
  /** Body of a test delivery, which has no event; null for others. */
  readonly body: string | null;
}

/** Deliveries in the queue of a webhook, of a team or of all, due or leased, in the order of the queue. */
export function dueDeliveries(
  { query }: Service,
  of: { readonly webhookId?: WebhookId; readonly teamId?: TeamId } = {},
): Promise<DueDelivery[]> {
  return query<DueDelivery>(
    `SELECT webhook_id AS "webhookId", delivery_id AS "deliveryId", team_id AS "teamId", lane, attempt, due_at AS "dueAt",
       first_started_at AS "firstStartedAt", lease, body
     FROM due_deliveries
     WHERE ($1::uuid IS NULL OR webhook_id = $1) AND ($2::uuid IS NULL OR team_id = $2) ORDER BY seq`,
    [of.webhookId ?? null, of.teamId ?? null],
  );
}

/** Resolves once no delivery of the webhook waits or runs. */
export function settled(service: Service, webhook: Webhook): Promise<unknown> {
  return until(
    'everything is delivered or given up',
    async () => (await dueDeliveries(service, { webhookId: webhook.id })).length === 0,
  );
}

export interface WrittenDelivery {
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly eventId: EventId;
  readonly eventType: EventType;
  /** The event's message; null for an event of a contact. */
  readonly messageId: MessageId | null;
  readonly sequence: number;
  readonly status: string;
  /** True if the first attempt waits in the queue, due since the event. */
  readonly isDue: boolean;
  /** True if the delivery was finished when its event was written; null if it is not finished. */
  readonly isFinishedWithEvent: boolean | null;
  /** True if the id of the delivery contains the time of the event's id. */
  readonly isOfEventMoment: boolean;
}

/** Lists the deliveries of a team's events, in the order of their ids. */
export const writtenDeliveries = rowsBy<WrittenDelivery, [teamId: TeamId]>(
  `SELECT d.id, d.webhook_id AS "webhookId", d.event_id AS "eventId", d.event_type AS "eventType",
     e.message_id AS "messageId", e.sequence, d.status, d.finished_at = e.created_at AS "isFinishedWithEvent",
     substr(d.id::text, 1, 28) = substr(e.id::text, 1, 28) AND d.created_at = e.created_at AS "isOfEventMoment",
     EXISTS (SELECT FROM due_deliveries q WHERE q.webhook_id = d.webhook_id AND q.delivery_id = d.id AND q.lane = 'live'
       AND q.event_id = e.id AND q.team_id = e.team_id AND q.attempt = 1 AND q.due_at >= e.created_at AND q.lease IS NULL)
       AS "isDue"
   FROM deliveries d LEFT JOIN events e ON e.team_id = d.team_id AND e.id = d.event_id AND e.type = d.event_type
   WHERE d.team_id = $1 ORDER BY d.id`,
);

/** Counts the team's deliveries in the queue. */
export const countDue = countBy<[teamId: TeamId]>('SELECT FROM due_deliveries WHERE team_id = $1');
