import { type Scanned, sqlBoundedScan, sqlRowsAlong } from '#server/database/bounded-scan.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { type MessageRow, sqlMessageColumns } from '#server/messages/message.ts';
import { sqlReadyAndHeld } from '#server/numbers/queue-sql.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { ConversationKey } from './conversation-key.ts';
import { waitingSpellingsExaminedMax } from './limits.ts';

export type ConversationMessageRow = MessageRow & Scanned;

interface WaitingMessages {
  /** The oldest message that waits for the phone; null if none waits. */
  readonly head_id: MessageId | null;
  /** The recipients of the newest waiting messages, as they were sent. */
  readonly handles: readonly string[];
}

/** A scan of the messages of each handle, with filters on number and direction. */
function along(column: 'from_handle' | 'to_handle', fits: string): string {
  const rows = sqlRowsAlong('messages', 'm', column, ['$1', 'h.handle', '$4::uuid']);
  const bounds = { fits, examinedMax: '$5::bigint', limit: '$6' };
  const scan = sqlBoundedScan(rows, sqlMessageColumns('m'), bounds);
  return `SELECT m.* FROM unnest($2::text[]) AS h (handle) CROSS JOIN LATERAL (${scan}) m`;
}

const page = statement<[TeamId, readonly string[], string, string, number, number], ConversationMessageRow>(
  'conversations.messages',
  `${along('from_handle', `m.direction = 'inbound' AND m.to_handle = $3`)}
   UNION ALL
   ${along('to_handle', `m.direction = 'outbound' AND m.from_handle = $3`)}`,
);
const waiting = statement<[TeamId, NumberId, ConversationKey['contact']], WaitingMessages>(
  'conversations.waiting-messages',
  `SELECT
     (SELECT q.message_id FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
        SELECT q.message_id FROM send_queue q WHERE q.number_id = $2 AND q.to_handle = $3 AND q.is_ready = h.is_ready
        ORDER BY q.number_id, q.to_handle, q.seq LIMIT 1
      ) q ORDER BY h.is_ready DESC LIMIT 1) AS head_id,
     ARRAY(
       SELECT DISTINCT m.to_handle FROM (
         SELECT q.message_id FROM send_queue q WHERE q.number_id = $2 AND q.to_handle = $3
         ORDER BY q.number_id DESC, q.to_handle DESC, q.is_ready DESC, q.seq DESC LIMIT ${waitingSpellingsExaminedMax}
       ) q
       CROSS JOIN LATERAL (
         SELECT m.to_handle FROM messages m WHERE m.team_id = $1 AND m.id BETWEEN q.message_id AND q.message_id
         ORDER BY m.team_id, m.id LIMIT 1
       ) m
     ) AS handles`,
);

/**
 * Lists messages of a conversation before an id. Each spelling and direction is a scan. It returns its newest `limit`
 * messages and, if it stops early, the row where it stopped.
 * @param handles spellings of the contact
 * @param bounds `examinedMax`: messages that are read at most per spelling and direction
 */
export function listRowsOfConversation(
  db: Queryable,
  teamId: TeamId,
  { phoneNumber, handles }: { readonly phoneNumber: string; readonly handles: readonly string[] },
  before: string,
  { examinedMax, limit }: { readonly examinedMax: number; readonly limit: number },
): Promise<ConversationMessageRow[]> {
  return page.rows(db, teamId, handles, phoneNumber, before, examinedMax, limit);
}

/** Finds the messages of a conversation that wait for the phone of a number. */
export async function findWaitingMessages(
  db: Queryable,
  teamId: TeamId,
  numberId: NumberId,
  contact: ConversationKey['contact'],
): Promise<WaitingMessages> {
  return (await waiting.row(db, teamId, numberId, contact)) ?? { head_id: null, handles: [] };
}
