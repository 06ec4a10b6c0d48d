import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';

export const listMessageIdsSince = query<
  { teamId: TeamId; firstId: string; limit: number },
  { id: MessageId }
>(
  'messages.list-ids-since',
  'SELECT m.id FROM messages m WHERE m.team_id = :teamId AND m.id >= :firstId ORDER BY m.id DESC LIMIT :limit',
).rows;

// One look-up per id, along the primary key.
const byIds = query<{ teamId: TeamId; ids: readonly string[] }, MessageRow>(
  'messages.list-by-ids',
  `SELECT ${sqlMessageColumns('m')} FROM unnest(:ids::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.team_id = :teamId AND m.id = wanted.id OFFSET 0) m`,
);

/** The team's messages with these ids, newest first. */
export async function listMessagesByIds(
  db: Queryable,
  teamId: TeamId,
  ids: readonly string[],
): Promise<MessageRow[]> {
  if (ids.length === 0) return [];
  const rows = await byIds.rows(db, { teamId, ids });
  return rows.sort((left, right) => (left.id < right.id ? 1 : -1));
}
