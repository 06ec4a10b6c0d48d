import type { Direction, MessageStatus } from '#contract/message.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Hold } from '#server/messages/message-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { type MessageId, type NumberId, parseId, type TeamId } from '#server/platform/ids.ts';
import { heldBy } from '#test/support/database/held-transaction.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface MessageInState {
  readonly teamId: TeamId;
  readonly id: MessageId;
  readonly numberId: NumberId;
  readonly direction: Direction;
  readonly from: string;
  readonly to: string;
  readonly content: string;
  readonly status: MessageStatus;
  readonly createdAt: string;
  readonly deliveredAt: string | null;
}

/**
 * Inserts a message in a state. A failed or sent message got that status when it was created; a queued message is in
 * the queue. A message in state `polling` is in flight in its number's session for 200 days.
 */
export async function putMessage({ query }: Service, message: MessageInState): Promise<void> {
  const { teamId, id, numberId, status, createdAt } = message;
  const isSent = status === 'sent' || status === 'delivered';
  await query(
    `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at,
       delivered_at, failed_at, error_code, hand_out_count)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      teamId,
      id,
      numberId,
      message.direction,
      message.from,
      message.to,
      message.content,
      status,
      createdAt,
      isSent ? createdAt : null,
      message.deliveredAt,
      status === 'failed' ? createdAt : null,
      status === 'failed' ? 'device_error' : null,
      status === 'queued' || status === 'received' ? 0 : 1,
    ],
  );
  if (status === 'queued') {
    await query(
      'INSERT INTO send_queue (team_id, message_id, number_id, to_handle, queued_at) VALUES ($1, $2, $3, $4, $5)',
      [teamId, id, numberId, contactOf(message.to), createdAt],
    );
  }
  if (status === 'polling') {
    await query(
      `INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
       SELECT $1, $2, $3, 1, device_id, session_id, poll_sequence, 0, $4, $4::timestamptz + interval '200 days'
       FROM device_sessions WHERE number_id = $1`,
      [numberId, teamId, id, createdAt],
    );
  }
}

/** Holds a queued message, or makes it one for later. @param id its id in the API */
export async function holdMessage(
  { query }: Service,
  id: string,
  { hold = null, readyAt = null }: { readonly hold?: Hold | null; readonly readyAt?: Date | null },
): Promise<void> {
  await query('UPDATE send_queue SET hold = $2, ready_at = $3 WHERE message_id = $1', [
    parseId('msg', id),
    hold,
    readyAt,
  ]);
}

/**
 * Inserts the messages of events, for tests that need no more of them than their ids. Their number is deleted, so that
 * no list shows it, and has the id of the first message. A message that exists stays as it is.
 */
export async function putMessagesOfEvents(
  trx: Transaction,
  teamId: TeamId,
  messageIds: readonly MessageId[],
): Promise<void> {
  await trx.query(
    `WITH number AS (
       INSERT INTO numbers (team_id, id, phone_number, created_at, verified_at, deleted_at)
       VALUES ($1, ($2::uuid[])[1], '+14155550199', to_timestamp(0), to_timestamp(0), to_timestamp(0)) ON CONFLICT DO NOTHING
     )
     INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at, hand_out_count)
     SELECT $1, id, ($2::uuid[])[1], 'outbound', '+14155550199', '+14155550198', 'Hello', 'sent', made_at, made_at, 1
     FROM unnest($2::uuid[]) AS id,
       to_timestamp(('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AS made_at ON CONFLICT DO NOTHING`,
    [teamId, messageIds],
  );
}

/** An outbound message that was sent in the past. */
interface SentMessage {
  readonly sentAtMs: number;
  readonly isDelivered: boolean;
}

/** Inserts outbound messages to one contact, sent or delivered. */
export async function putSentMessages(
  { query }: Service,
  phoneNumber: string,
  to: string,
  messages: readonly SentMessage[],
): Promise<void> {
  await query(
    `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at,
       hand_out_count, sent_at, delivered_at)
     SELECT n.team_id, (lpad(to_hex(m.ms), 12, '0') || '70008000' || lpad(to_hex(m.index), 12, '0'))::uuid,
       n.id, 'outbound', n.phone_number, $2, 'Hello', CASE WHEN m.is_delivered THEN 'delivered' ELSE 'sent' END,
       to_timestamp(0), 1, to_timestamp(1), CASE WHEN m.is_delivered THEN to_timestamp(2) END
     FROM numbers n, unnest($3::bigint[], $4::boolean[]) WITH ORDINALITY AS m (ms, is_delivered, index)
     WHERE n.phone_number = $1 AND n.deleted_at IS NULL`,
    [
      phoneNumber,
      to,
      messages.map(({ sentAtMs }) => sentAtMs),
      messages.map(({ isDelivered }) => isDelivered),
    ],
  );
}

/** Ends the lease of a message in flight at the moment of its hand-out. */
export const endLease = changeBy<[messageId: MessageId]>(
  'UPDATE in_flight SET leased_until = handed_out_at WHERE message_id = $1',
);

/** Writes the messages to a contact in a transaction that commits when the test releases it, as an erasure does. */
export const holdMessageChange = heldBy<[contact: string]>(
  'UPDATE messages SET content = content WHERE to_handle = $1',
);
