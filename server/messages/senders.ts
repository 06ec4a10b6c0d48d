import type { ConversationMessage } from '#contract/conversation.ts';
import type { MessageSender } from '#contract/message.ts';
import { type Queryable, query } from '#server/database/query.ts';
import { type KeyId, type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { type MessageRow, messageDetailView } from './message.ts';
import { notWaiting } from './waiting-reason.ts';

type SenderId = KeyId | MemberId;

type SenderRow =
  | { readonly kind: 'key'; readonly id: KeyId; readonly name: string }
  | { readonly kind: 'member'; readonly id: MemberId; readonly name: string };

const listSenders = query<{ teamId: TeamId; ids: readonly SenderId[] }, SenderRow>(
  'messages.senders',
  `SELECT 'key' AS kind, k.id, k.name FROM api_keys k WHERE k.team_id = :teamId AND k.id = ANY(:ids::uuid[])
   UNION ALL
   SELECT 'member', m.id, a.name FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.team_id = :teamId AND m.id = ANY(:ids::uuid[])`,
).rows;

/**
 * Finds the keys and members among the senders of a team's messages, by id, as people see them.
 * Revoked keys and removed members are included.
 */
export async function findSenders(
  db: Queryable,
  teamId: TeamId,
  senders: readonly (SenderId | null)[],
): Promise<ReadonlyMap<SenderId | null, MessageSender>> {
  const ids = [...new Set(senders)].filter((id) => id !== null);
  const rows = ids.length === 0 ? [] : await listSenders(db, { teamId, ids });
  return new Map(
    rows.map(({ kind, id, name }) => [
      id,
      { kind, id: kind === 'key' ? publicId('key', id) : publicId('usr', id), name },
    ]),
  );
}

/** A message of a conversation, with its sender. */
export function conversationMessageView(
  row: MessageRow,
  sender: MessageSender | undefined,
): ConversationMessage {
  const detail = messageDetailView(row, notWaiting, null);
  const { waiting_reason: _reason, expected_at: _at, contact_id: _id, ...message } = detail;
  return { ...message, sender: sender ?? null };
}
