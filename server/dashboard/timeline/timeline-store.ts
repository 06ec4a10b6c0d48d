import type { MessageEventType } from '#contract/event.ts';
import {
  deliveryReportsExaminedMax,
  timelineAttemptsMax,
  timelineDeliveriesMax,
  timelineEventsMax,
} from '#contract/timeline.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { sqlDeliveryIdRange } from '#server/events/delivery-id.ts';
import type { EnvelopeColumns } from '#server/events/envelope.ts';
import type {
  DeliveryId,
  DeviceId,
  EventId,
  KeyId,
  MemberId,
  MessageId,
  TeamId,
} from '#server/platform/ids/ids.ts';
import {
  type AttemptSummaryRow,
  type DeliveryRow,
  deliveryColumns,
} from '#server/webhooks/deliveries/delivery-store.ts';

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

/** A delivery with its webhook's current url. */
export interface NamedDeliveryRow extends DeliveryRow {
  readonly url: string | null;
}

/** An attempt without the body of its answer. */
export interface TimelineAttemptRow extends AttemptSummaryRow {
  readonly delivery_id: DeliveryId;
}

export interface StoredFileRow {
  readonly name: string;
  readonly type: string;
  readonly size_bytes: number;
  /** When the file's first bytes were stored. */
  readonly created_at: Date;
}

/** Lists the hand-outs of a message, the oldest first. */
export const listNamedHandOuts = statement<[teamId: TeamId, messageId: MessageId], NamedHandOutRow>(
  'timeline.hand-outs',
  `SELECT h.hand_out, h.device_id, d.name AS device_name, h.handed_out_at, h.outcome, h.resolved_at
   FROM hand_outs h LEFT JOIN devices d ON d.team_id = h.team_id AND d.id = h.device_id
   WHERE h.message_id = $2 AND h.team_id = $1 ORDER BY h.hand_out`,
).rows;

/** Finds a message's complete file. The caller has checked that the message belongs to the team. */
export const findStoredFile = statement<[messageId: MessageId], StoredFileRow>(
  'timeline.file',
  'SELECT name, type, size_bytes, created_at FROM media WHERE message_id = $1 AND is_complete',
).row;
const listEvents = statement<[TeamId, MessageId], MessageEventRow>(
  'timeline.events',
  `SELECT e.team_id, e.id, e.type, e.sequence, e.data, e.created_at FROM events e
   WHERE e.team_id = $1 AND e.message_id = $2 ORDER BY e.sequence LIMIT ${timelineEventsMax}`,
);

/** Lists the deliveries of each event; at most one more than `timelineDeliveriesMax`. */
export const listDeliveriesOfEvents = statement<
  [teamId: TeamId, eventIds: readonly EventId[]],
  NamedDeliveryRow
>(
  'timeline.deliveries',
  `SELECT ${deliveryColumns}, q.due_at, w.url
   FROM unnest($2::uuid[]) AS e (event_id)
   CROSS JOIN LATERAL (
     SELECT d.* FROM deliveries d
     WHERE d.team_id = $1 AND ${sqlDeliveryIdRange('d.id', 'e.event_id')} AND d.event_id = e.event_id
     ORDER BY d.team_id, d.id LIMIT ${timelineDeliveriesMax} + 1
   ) d
   LEFT JOIN due_deliveries q ON q.webhook_id = d.webhook_id AND q.delivery_id = d.id
   LEFT JOIN webhooks w ON w.team_id = d.team_id AND w.id = d.webhook_id
   ORDER BY d.id`,
).rows;
const listAttempts = statement<[TeamId, DeliveryId[]], TimelineAttemptRow>(
  'timeline.attempts',
  `SELECT a.* FROM unnest($2::uuid[]) AS d (delivery_id)
   CROSS JOIN LATERAL (
     SELECT a.delivery_id, a.id, a.started_at, a.duration_ms, a.outcome, a.status_code, a.url FROM attempts a
     WHERE a.team_id = $1 AND a.delivery_id = d.delivery_id
     ORDER BY a.id DESC LIMIT ${timelineAttemptsMax}
   ) a
   ORDER BY a.id`,
);

/** The keys and members of a team among these ids. */
export const findSenders = statement<[teamId: TeamId, ids: readonly (KeyId | MemberId)[]], SenderRow>(
  'timeline.senders',
  `SELECT 'key' AS kind, k.id, k.name FROM api_keys k WHERE k.team_id = $1 AND k.id = ANY($2::uuid[])
   UNION ALL
   SELECT 'member', m.id, a.name FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.team_id = $1 AND m.id = ANY($2::uuid[])`,
).rows;

const findDelivered = statement<[TeamId, string], { is_found: boolean }>(
  'timeline.reports-delivery',
  `SELECT coalesce(bool_or(m.delivered_at IS NOT NULL), false) AS is_found FROM (
     SELECT m.delivered_at FROM messages m
     WHERE m.team_id = $1 AND m.from_handle = $2 AND m.id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
     ORDER BY m.team_id DESC, m.from_handle DESC, m.id DESC LIMIT ${deliveryReportsExaminedMax}
   ) m`,
);

/** An API key or a member, even if the key was revoked or the member removed. */
export type SenderRow =
  | { readonly kind: 'key'; readonly id: KeyId; readonly name: string }
  | { readonly kind: 'member'; readonly id: MemberId; readonly name: string };

/**
 * True if one of a phone number's newest messages was reported as delivered. An iPhone with the shortcuts can't report
 * that (specification section 11.6).
 */
export async function findsDeliveryReport(
  db: Queryable,
  teamId: TeamId,
  phoneNumber: string,
): Promise<boolean> {
  return (await findDelivered.row(db, teamId, phoneNumber))?.is_found ?? false;
}

/** Lists a message's events in the order of their sequence; at most `timelineEventsMax`. */
export function listMessageEvents(
  db: Queryable,
  message: { readonly team_id: TeamId; readonly id: MessageId },
): Promise<MessageEventRow[]> {
  return listEvents.rows(db, message.team_id, message.id);
}

/** Lists the latest `timelineAttemptsMax` attempts of each delivery, oldest first. */
export function listAttemptsOfDeliveries(
  db: Queryable,
  teamId: TeamId,
  deliveries: readonly Pick<DeliveryRow, 'id'>[],
): Promise<TimelineAttemptRow[]> {
  return listAttempts.rows(
    db,
    teamId,
    deliveries.map(({ id }) => id),
  );
}
