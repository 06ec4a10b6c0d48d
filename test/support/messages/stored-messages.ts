import type { Direction, FailureCode, MessageStatus } from '#contract/message.ts';
import type { KeyId, MemberId, MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { firstRowBy, rowsBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface StoredMessage {
  readonly id: MessageId;
  readonly teamId: TeamId;
  readonly direction: Direction;
  readonly from: string;
  readonly to: string;
  readonly content: string;
  readonly mediaUrl: string | null;
  /** Key or member that sent the message. */
  readonly sentBy: KeyId | MemberId | null;
  readonly status: MessageStatus;
  readonly errorCode: FailureCode | null;
  /** Number of hand-outs. */
  readonly handOutCount: number;
  /** Sequence number of the latest event; 0 before the first. */
  readonly lastEventSequence: number;
}

interface MessageFilter {
  readonly teamId?: TeamId;
  readonly from?: string;
  readonly to?: string;
  readonly content?: string;
}

/** Messages that match the filter, by their ids. */
export function storedMessages(
  { query }: Service,
  { teamId, from, to, content }: MessageFilter = {},
): Promise<StoredMessage[]> {
  return query<StoredMessage>(
    `SELECT id, team_id AS "teamId", direction, from_handle AS "from", to_handle AS "to", content,
       media_url AS "mediaUrl", sent_by AS "sentBy", status, error_code AS "errorCode", hand_out_count AS "handOutCount", last_event_sequence AS "lastEventSequence"
     FROM messages
     WHERE ($1::uuid IS NULL OR team_id = $1) AND ($2::text IS NULL OR from_handle = $2)
       AND ($3::text IS NULL OR to_handle = $3) AND ($4::text IS NULL OR content = $4)
     ORDER BY id`,
    [teamId ?? null, from ?? null, to ?? null, content ?? null],
  );
}

export interface QueuedMessage {
  readonly id: MessageId;
  readonly phoneNumber: string;
  readonly isNumberDeleted: boolean;
  readonly content: string;
}

/** Queued messages, in the order of acceptance. */
export function queuedMessages(
  { query }: Service,
  { teamId, phoneNumber }: { readonly teamId?: TeamId; readonly phoneNumber?: string } = {},
): Promise<QueuedMessage[]> {
  return query<QueuedMessage>(
    `SELECT m.id, n.phone_number AS "phoneNumber", n.deleted_at IS NOT NULL AS "isNumberDeleted", m.content
     FROM send_queue q JOIN messages m ON m.team_id = q.team_id AND m.id = q.message_id
       JOIN numbers n ON n.id = q.number_id
     WHERE ($1::uuid IS NULL OR q.team_id = $1) AND ($2::text IS NULL OR n.phone_number = $2)
     ORDER BY q.seq`,
    [teamId ?? null, phoneNumber ?? null],
  );
}

interface InFlightMessage {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  readonly handOut: number;
}

/** Messages that a phone has and has not reported. @param phoneNumber all numbers if undefined */
export const messagesInFlight = rowsBy<InFlightMessage, [phoneNumber?: string]>(
  `SELECT f.team_id AS "teamId", f.number_id AS "numberId", f.message_id AS "messageId", f.hand_out AS "handOut"
   FROM in_flight f JOIN numbers n ON n.id = f.number_id WHERE $1::text IS NULL OR n.phone_number = $1`,
);

interface HandOutRecord {
  readonly messageId: MessageId;
  readonly handedOutAt: Date;
  readonly outcome: 'sent' | 'failed' | 'unconfirmed' | null;
  readonly resolvedAt: Date | null;
}

/** Hand-outs of a number's messages, oldest first. */
export const handOutsOf = rowsBy<HandOutRecord, [phoneNumber: string]>(
  `SELECT h.message_id AS "messageId", h.handed_out_at AS "handedOutAt", h.outcome, h.resolved_at AS "resolvedAt" FROM hand_outs h
   JOIN messages m ON m.id = h.message_id JOIN numbers n ON n.id = m.number_id WHERE n.phone_number = $1 ORDER BY h.handed_out_at, h.message_id`,
);

interface StoredConversation {
  readonly openedBy: 'team' | 'contact';
  /** Number of hand-outs since the contact's last message. */
  readonly unansweredCount: number;
  readonly lastInboundAt: Date | null;
}

/** The conversation of a number and a contact; undefined before its first message. */
export const storedConversation = firstRowBy<StoredConversation, [phoneNumber: string, contact: string]>(
  `SELECT c.opened_by AS "openedBy", c.unanswered_count AS "unansweredCount", c.last_inbound_at AS "lastInboundAt"
   FROM conversations c JOIN numbers n ON n.id = c.number_id WHERE n.phone_number = $1 AND c.contact = $2`,
);
