import type { EventType } from '#contract/event.ts';
import type { EventId, MessageId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

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
  /** True if the delivery's id contains the same time as the event's id. */
  readonly isOfEventMoment: boolean;
}

/** Lists the deliveries of a team's events, in the order of their ids. */
export function writtenDeliveries({ query }: Service, teamId: TeamId): Promise<WrittenDelivery[]> {
  return query<WrittenDelivery>(
    `SELECT d.id, d.webhook_id AS "webhookId", d.event_id AS "eventId", d.event_type AS "eventType",
       e.message_id AS "messageId", e.sequence, d.status, d.finished_at = e.created_at AS "isFinishedWithEvent",
       substr(d.id::text, 1, 28) = substr(e.id::text, 1, 28) AND d.created_at = e.created_at AS "isOfEventMoment",
       EXISTS (SELECT FROM due_deliveries q WHERE q.webhook_id = d.webhook_id AND q.delivery_id = d.id AND q.lane = 'live'
         AND q.event_id = e.id AND q.team_id = e.team_id AND q.attempt = 1 AND q.due_at >= e.created_at AND q.lease IS NULL)
         AS "isDue"
     FROM deliveries d LEFT JOIN events e ON e.team_id = d.team_id AND e.id = d.event_id AND e.type = d.event_type
     WHERE d.team_id = $1 ORDER BY d.id`,
    [teamId],
  );
}

/** Counts the team's deliveries in the queue. */
export async function countDue({ query }: Service, teamId: TeamId): Promise<number> {
  return (await query('SELECT FROM due_deliveries WHERE team_id = $1', [teamId])).length;
}
