import type {
  AcceptedMessage,
  Direction,
  FailureCode,
  Message,
  MessageDetail,
  MessageStatus,
  WaitingReason,
} from '#contract/message.ts';
import {
  type ContactId,
  type KeyId,
  type MemberId,
  type MessageId,
  type NumberId,
  publicId,
  type TeamId,
} from '#server/platform/ids.ts';
import { failureMessage } from './message-status.ts';

export interface MessageRow {
  readonly team_id: TeamId;
  readonly id: MessageId;
  readonly number_id: NumberId;
  readonly direction: Direction;
  readonly from_handle: string;
  readonly to_handle: string;
  readonly content: string;
  readonly media_url: string | null;
  /** True if the message went to several recipients. */
  readonly is_group: boolean;
  /** True if the text equals an earlier one that some automations had not passed on, so it may be a late repeat. */
  readonly possible_repeat: boolean;
  readonly status: MessageStatus;
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly delivered_at: Date | null;
  readonly failed_at: Date | null;
  readonly error_code: FailureCode | null;
  readonly device_error: string | null;
  readonly may_have_been_sent: boolean;
  readonly hand_out_count: number;
  readonly last_event_sequence: number;
  /** Why the media could not be fetched, a MediaFailure; null otherwise. */
  readonly media_failure: string | null;
  /** The API key or member that sent the message; null for inbound messages and for test texts of the setup page. */
  readonly sent_by: KeyId | MemberId | null;
}

export const messageColumns = (
  'team_id, id, number_id, direction, from_handle, to_handle, content, media_url, status, created_at, sent_at, delivered_at, ' +
  'failed_at, error_code, device_error, may_have_been_sent, hand_out_count, last_event_sequence, is_group, possible_repeat, media_failure, sent_by'
).split(', ');

/** The columns of a MessageRow for a SELECT or RETURNING list. */
export function sqlMessageColumns(alias: string): string {
  return messageColumns.map((column) => `${alias}.${column}`).join(', ');
}

const time = (moment: Date | null) => moment?.toISOString() ?? null;

let shared: { readonly moment: Date; readonly text: string } | undefined;

/**
 * Formats the acceptance time of a batch once, because all its sends share it and formatting is the slowest part of an
 * answer.
 */
function timeOfBatch(moment: Date): string {
  if (shared?.moment !== moment) shared = { moment, text: moment.toISOString() };
  return shared.text;
}

/** The answer to POST /v1/messages/send and to its repeats: status is always queued. */
export function acceptedView(
  message: Pick<MessageRow, 'id' | 'to_handle' | 'from_handle' | 'content' | 'media_url' | 'created_at'>,
): AcceptedMessage {
  return {
    id: publicId('msg', message.id),
    status: 'queued',
    to: message.to_handle,
    from: message.from_handle,
    content: message.content,
    media_url: message.media_url,
    created_at: timeOfBatch(message.created_at),
  };
}

/** An item of GET /v1/messages (specification section 4.3). */
export function messageView(message: MessageRow): Message {
  return {
    id: publicId('msg', message.id),
    to: message.to_handle,
    from: message.from_handle,
    content: message.content,
    media_url: message.media_url,
    status: message.status,
    direction: message.direction,
    created_at: message.created_at.toISOString(),
    delivered_at: time(message.delivered_at),
    ...marks(message),
  };
}

/** The contact fields of a row, null if no contact has the handle. */
export function contactView(contact: { readonly id: ContactId; readonly name: string } | undefined) {
  return { contact_id: contact ? publicId('con', contact.id) : null, name: contact?.name ?? null };
}

/** Returns marks of a received message only if they are true, so that the objects of other messages get no new field. */
function marks({ is_group, possible_repeat }: MessageRow): Pick<Message, 'group' | 'possible_repeat'> {
  return { ...(is_group ? { group: true } : {}), ...(possible_repeat ? { possible_repeat: true } : {}) };
}

function errorMessage(message: MessageRow): string | null {
  const { error_code, device_error, may_have_been_sent, media_failure } = message;
  return error_code && failureMessage(error_code, device_error, may_have_been_sent, media_failure);
}

/** GET /v1/messages/:id (specification section 4.3). */
export function messageDetailView(
  message: MessageRow,
  waiting: { readonly reason: WaitingReason | null; readonly expectedAt: Date | null },
  contactId: ContactId | null,
): MessageDetail {
  return {
    ...messageView(message),
    sent_at: time(message.sent_at),
    failed_at: time(message.failed_at),
    error_code: message.error_code,
    error_message: errorMessage(message),
    waiting_reason: waiting.reason,
    expected_at: time(waiting.expectedAt),
    may_have_been_sent: message.may_have_been_sent,
    contact_id: contactId && publicId('con', contactId),
  };
}

/** `data` of the event of a message's latest change (specification section 6.2). */
export function eventData(message: MessageRow): Readonly<Record<string, unknown>> {
  const base = {
    id: publicId('msg', message.id),
    from: message.from_handle,
    to: message.to_handle,
    content: message.content,
    media_url: message.media_url,
  };
  if (message.direction === 'inbound')
    return { ...base, received_at: message.created_at.toISOString(), ...marks(message) };
  const outbound = {
    ...base,
    status: message.status,
    created_at: message.created_at.toISOString(),
    sent_at: time(message.sent_at),
  };
  if (message.status === 'delivered') return { ...outbound, delivered_at: time(message.delivered_at) };
  if (message.status !== 'failed') return outbound;
  return {
    ...outbound,
    failed_at: time(message.failed_at),
    error_code: message.error_code,
    error_message: errorMessage(message),
    may_have_been_sent: message.may_have_been_sent,
  };
}
