import { type Queryable, statement } from '#server/database/statement.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';

const idsSince = statement<[TeamId, string, number], { id: MessageId }>(
  'messages.list-ids-since',
  'SELECT m.id FROM messages m WHERE m.team_id = $1 AND m.id >= $2 ORDER BY m.id DESC LIMIT $3',
);
// One look-up per id, along the primary key.
const byIds = statement<[TeamId, readonly string[]], MessageRow>(
  'messages.list-by-ids',
  `SELECT ${sqlMessageColumns('m')} FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.team_id = $1 AND m.id = wanted.id OFFSET 0) m`,
);

export async function listMessageIdsSince(
  db: Queryable,
  teamId: TeamId,
  firstId: string,
  limit: number,
): Promise<MessageId[]> {
  return (await idsSince.rows(db, teamId, firstId, limit)).map(({ id }) => id);
}

/** The team's messages with these ids, newest first. */
export async function listMessagesByIds(
  db: Queryable,
  teamId: TeamId,
  ids: readonly string[],
): Promise<MessageRow[]> {
  if (ids.length === 0) return [];
  const rows = await byIds.rows(db, teamId, ids);
  return rows.sort((left, right) => (left.id < right.id ? 1 : -1));
}
