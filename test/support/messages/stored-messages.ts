import type { Direction, FailureCode, MessageStatus } from '#contract/message.ts';
import type { KeyId, MemberId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
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
  /** The key or member that sent it. */
  readonly sentBy: KeyId | MemberId | null;
  readonly status: MessageStatus;
  readonly errorCode: FailureCode | null;
  /** How often it was handed to a device. */
  readonly handOutCount: number;
  /** The sequence number of its latest event; 0 before the first. */
  readonly lastEventSequence: number;
}

interface MessageFilter {
  readonly teamId?: TeamId;
  readonly from?: string;
  readonly to?: string;
  readonly content?: string;
}

/** The messages that fit, oldest first by their ids. */
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

/** The messages that wait for a phone, in the order of acceptance. */
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

export interface InFlightMessage {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
  readonly messageId: MessageId;
  readonly handOut: number;
}

/** The messages that a phone has and did not report. @param phoneNumber all numbers where it is left out */
export function messagesInFlight({ query }: Service, phoneNumber?: string): Promise<InFlightMessage[]> {
  return query<InFlightMessage>(
    `SELECT f.team_id AS "teamId", f.number_id AS "numberId", f.message_id AS "messageId", f.hand_out AS "handOut"
     FROM in_flight f JOIN numbers n ON n.id = f.number_id WHERE $1::text IS NULL OR n.phone_number = $1`,
    [phoneNumber ?? null],
  );
}

export interface HandOutRecord {
  readonly messageId: MessageId;
  readonly handedOutAt: Date;
}

/** Each time that a phone was given a message of this number, oldest first. */
export function handOutsOf({ query }: Service, phoneNumber: string): Promise<HandOutRecord[]> {
  return query<HandOutRecord>(
    `SELECT h.message_id AS "messageId", h.handed_out_at AS "handedOutAt" FROM hand_outs h
     JOIN numbers n ON n.id = h.number_id WHERE n.phone_number = $1 ORDER BY h.handed_out_at, h.message_id`,
    [phoneNumber],
  );
}
