import { type Queryable, statement } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** Lower than every id. A range from this id makes the planner use the index, whatever the statistics say. */
const lowest = `'00000000-0000-0000-0000-000000000000'`;

const countWaitingOf = statement<[TeamId, number], { messages: number }>(
  'messages.count-waiting',
  `SELECT count(*) AS messages
   FROM (SELECT FROM send_queue q WHERE q.team_id = $1 AND q.message_id > ${lowest} ORDER BY q.message_id LIMIT $2) w`,
);
// Reads along the index of failed messages, whose order is that of ids.
const countFailedOf = statement<[TeamId, Date, number], { messages: number }>(
  'messages.count-failed',
  `SELECT count(*) FILTER (WHERE f.failed_at > $2 AND f.error_code <> 'cancelled') AS messages
   FROM (SELECT m.failed_at, m.error_code FROM messages m
         WHERE m.team_id = $1 AND m.failed_at IS NOT NULL AND m.id > ${lowest} ORDER BY m.id DESC LIMIT $3) f`,
);
const anySent = statement<[TeamId, number], { found: boolean }>(
  'messages.any-sent',
  `SELECT EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = $1 AND m.id > ${lowest} ORDER BY m.id DESC LIMIT $2) l
       WHERE l.sent_at IS NOT NULL
     ) OR EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = $1 AND m.id > ${lowest} ORDER BY m.id LIMIT $2) f
       WHERE f.sent_at IS NOT NULL
     ) AS found`,
);

/** Counts messages that wait for a phone; stops at `max`. */
export async function countWaitingMessages(db: Queryable, teamId: TeamId, max: number): Promise<number> {
  return (await countWaitingOf.row(db, teamId, max))?.messages ?? 0;
}

/** Counts messages that failed after a time, without cancelled ones, among the newest `max` failed messages. */
export async function countFailedMessages(
  db: Queryable,
  teamId: TeamId,
  after: Date,
  max: number,
): Promise<number> {
  return (await countFailedOf.row(db, teamId, after, max))?.messages ?? 0;
}

/** True if a phone has confirmed one of the first or of the latest `max` messages. */
export async function hasSentMessage(db: Queryable, teamId: TeamId, max: number): Promise<boolean> {
  return (await anySent.row(db, teamId, max))?.found ?? false;
}
