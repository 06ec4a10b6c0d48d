import type { MessageEventType } from '#contract/event.ts';
import {
  deliveryReportsExaminedMax,
  timelineAttemptsMax,
  timelineDeliveriesMax,
  timelineEventsMax,
} from '#contract/timeline.ts';
import { query } from '#server/database/query.ts';
import { type EnvelopeColumns, sqlDeliveryIdRange } from '#server/events/append-events.ts';
import type { DeliveryId, DeviceId, EventId, MessageId, TeamId } from '#server/platform/ids.ts';
import {
  type AttemptSummaryRow,
  type DeliveryRow,
  deliveryColumns,
} from '#server/webhooks/deliveries/deliveries.ts';

export interface NamedHandOutRow {
  readonly hand_out: number;
  readonly device_id: DeviceId;
  readonly device_name: string | null;
  readonly handed_out_at: Date;
  readonly outcome: 'sent' | 'failed' | 'unconfirmed' | null;
  readonly resolved_at: Date | null;
}

export interface MessageEventRow extends EnvelopeColumns {
  readonly type: MessageEventType;
}

export interface StoredFileRow {
  readonly name: string;
  readonly type: string;
  readonly size_bytes: number;
  /** When the file's first bytes were stored. */
  readonly created_at: Date;
}

/** Lists the hand-outs of a message, the oldest first. */
export const listNamedHandOuts = query<{ teamId: TeamId; messageId: MessageId }, NamedHandOutRow>(
  'timeline.hand-outs',
  `SELECT h.hand_out, h.device_id, d.name AS device_name, h.handed_out_at, h.outcome, h.resolved_at
   FROM hand_outs h LEFT JOIN devices d ON d.team_id = h.team_id AND d.id = h.device_id
   WHERE h.message_id = :messageId AND h.team_id = :teamId ORDER BY h.hand_out`,
).rows;

/** Finds a message's complete file. The caller has checked that the message belongs to the team. */
export const findStoredFile = query<{ messageId: MessageId }, StoredFileRow>(
  'timeline.file',
  'SELECT name, type, size_bytes, created_at FROM media WHERE message_id = :messageId AND is_complete',
).row;

/** Lists a message's events in the order of their sequence; at most `timelineEventsMax`. */
export const listMessageEvents = query<{ teamId: TeamId; messageId: MessageId }, MessageEventRow>(
  'timeline.events',
  `SELECT e.team_id, e.id, e.type, e.sequence, e.data, e.created_at FROM events e
   WHERE e.team_id = :teamId AND e.message_id = :messageId ORDER BY e.sequence LIMIT ${timelineEventsMax}`,
).rows;

/** Lists the deliveries of each event, with the current url of the webhook; one more than `timelineDeliveriesMax`. */
export const listDeliveriesOfEvents = query<
  { teamId: TeamId; eventIds: readonly EventId[] },
  DeliveryRow & { readonly url: string | null }
>(
  'timeline.deliveries',
  `SELECT ${deliveryColumns}, q.due_at, w.url
   FROM unnest(:eventIds::uuid[]) AS e (event_id)
   CROSS JOIN LATERAL (
     SELECT ${deliveryColumns} FROM deliveries d
     WHERE d.team_id = :teamId AND ${sqlDeliveryIdRange('d.id', 'e.event_id')} AND d.event_id = e.event_id
     ORDER BY d.team_id, d.id LIMIT ${timelineDeliveriesMax} + 1
   ) d
   LEFT JOIN due_deliveries q ON q.webhook_id = d.webhook_id AND q.delivery_id = d.id
   LEFT JOIN webhooks w ON w.team_id = d.team_id AND w.id = d.webhook_id
   ORDER BY d.id`,
).rows;

/** Lists the latest `timelineAttemptsMax` attempts of each delivery, oldest first. */
export const listAttemptsOfDeliveries = query<
  { teamId: TeamId; deliveryIds: readonly DeliveryId[] },
  AttemptSummaryRow & { readonly delivery_id: DeliveryId }
>(
  'timeline.attempts',
  `SELECT a.* FROM unnest(:deliveryIds::uuid[]) AS d (delivery_id)
   CROSS JOIN LATERAL (
     SELECT a.delivery_id, a.id, a.started_at, a.duration_ms, a.outcome, a.status_code, a.url FROM attempts a
     WHERE a.team_id = :teamId AND a.delivery_id = d.delivery_id
     ORDER BY a.id DESC LIMIT ${timelineAttemptsMax}
   ) a
   ORDER BY a.id`,
).rows;

/**
 * True if one of a phone number's newest messages was reported as delivered. An iPhone with the shortcuts can't report
 * that (specification section 11.6).
 */
export const findsDeliveryReport = query<{ teamId: TeamId; phoneNumber: string }>(
  'timeline.reports-delivery',
  `SELECT FROM (
     SELECT m.delivered_at FROM messages m
     WHERE m.team_id = :teamId AND m.from_handle = :phoneNumber AND m.id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
     ORDER BY m.team_id DESC, m.from_handle DESC, m.id DESC LIMIT ${deliveryReportsExaminedMax}
   ) m WHERE m.delivered_at IS NOT NULL LIMIT 1`,
).hasRow;
