import type { Direction, FailureCode, MessageStatus } from '#contract/message.ts';
import type { KeyId, MemberId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';

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
  /** True if it is equal to an earlier message, some of whose automations had not called. */
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
