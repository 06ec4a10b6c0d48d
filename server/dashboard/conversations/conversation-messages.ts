import { type Scanned, sqlBoundedScan, sqlRowsAlong } from '#server/database/bounded-scan.ts';
import { query } from '#server/database/query.ts';
import { type MessageRow, sqlMessageColumns } from '#server/messages/message.ts';
import { sqlReadyAndHeld } from '#server/numbers/queue-sql.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';

/** Newest waiting messages of a conversation whose spellings of the contact are examined. */
const waitingSpellingsExaminedMax = 100;

export type ConversationMessageRow = MessageRow & Scanned;

interface WaitingMessages {
  /** The oldest message that waits for the phone; null if none waits. */
  readonly head_id: MessageId | null;
  /** The recipients of the newest waiting messages, as they were sent. */
  readonly handles: readonly string[];
}

/** A scan of the messages of each handle, with filters on number and direction. */
function along(column: 'from_handle' | 'to_handle', fits: string): string {
  const rows = sqlRowsAlong('messages', 'm', column, [':teamId', 'h.handle', ':before::uuid']);
  const bounds = { fits, examinedMax: ':examinedMax::bigint', limit: ':limit' };
  const scan = sqlBoundedScan(rows, sqlMessageColumns('m'), bounds);
  return `SELECT m.* FROM unnest(:handles::text[]) AS h (handle) CROSS JOIN LATERAL (${scan}) m`;
}

/**
 * Lists messages of a conversation before an id. Each spelling of the contact and each direction is a scan. It returns
 * its newest `limit` messages and, if it stops early, the row where it stopped. A scan reads `examinedMax` messages at
 * most.
 */
export const listRowsOfConversation = query<
  {
    teamId: TeamId;
    phoneNumber: string;
    handles: readonly string[];
    before: string;
    examinedMax: number;
    limit: number;
  },
  ConversationMessageRow
>(
  'conversations.messages',
  `${along('from_handle', `m.direction = 'inbound' AND m.to_handle = :phoneNumber`)}
   UNION ALL
   ${along('to_handle', `m.direction = 'outbound' AND m.from_handle = :phoneNumber`)}`,
).rows;

/** Finds the messages of a conversation that wait for the phone of a number. */
export const findWaitingMessages = query<
  { teamId: TeamId; numberId: NumberId; contact: string },
  WaitingMessages
>(
  'conversations.waiting-messages',
  `SELECT
     (SELECT q.message_id FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
        SELECT q.message_id FROM send_queue q WHERE q.number_id = :numberId AND q.to_handle = :contact AND q.is_ready = h.is_ready
        ORDER BY q.number_id, q.to_handle, q.seq LIMIT 1
      ) q ORDER BY h.is_ready DESC LIMIT 1) AS head_id,
     ARRAY(
       SELECT DISTINCT m.to_handle FROM (
         SELECT q.message_id FROM send_queue q WHERE q.number_id = :numberId AND q.to_handle = :contact
         ORDER BY q.number_id DESC, q.to_handle DESC, q.is_ready DESC, q.seq DESC LIMIT ${waitingSpellingsExaminedMax}
       ) q
       CROSS JOIN LATERAL (
         SELECT m.to_handle FROM messages m WHERE m.team_id = :teamId AND m.id BETWEEN q.message_id AND q.message_id
         ORDER BY m.team_id, m.id LIMIT 1
       ) m
     ) AS handles`,
).one;
