import { query } from '#server/database/query.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** Lower than every id. A range from this id makes the planner use the index, whatever the statistics say. */
const lowest = `'00000000-0000-0000-0000-000000000000'`;

/** Counts messages that wait for a phone; stops at `max`. */
export const countWaitingMessages = query<{ teamId: TeamId; max: number }>(
  'messages.count-waiting',
  `SELECT count(*)
   FROM (SELECT FROM send_queue q WHERE q.team_id = :teamId AND q.message_id > ${lowest} ORDER BY q.message_id LIMIT :max) w`,
).number;

/** Counts messages that failed after a time, without cancelled ones, among the newest `max` failed messages. */
export const countFailedMessages = query<{ teamId: TeamId; after: Date; max: number }>(
  // Reads along the index of failed messages, whose order is that of ids.
  'messages.count-failed',
  `SELECT count(*) FILTER (WHERE f.failed_at > :after AND f.error_code <> 'cancelled')
   FROM (SELECT m.failed_at, m.error_code FROM messages m
         WHERE m.team_id = :teamId AND m.failed_at IS NOT NULL AND m.id > ${lowest} ORDER BY m.id DESC LIMIT :max) f`,
).number;

/** True if a phone has confirmed one of the first or of the latest `max` messages. */
export const hasSentMessage = query<{ teamId: TeamId; max: number }>(
  'messages.any-sent',
  `SELECT WHERE EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = :teamId AND m.id > ${lowest} ORDER BY m.id DESC LIMIT :max) l
       WHERE l.sent_at IS NOT NULL
     ) OR EXISTS (
       SELECT FROM (SELECT m.sent_at FROM messages m WHERE m.team_id = :teamId AND m.id > ${lowest} ORDER BY m.id LIMIT :max) f
       WHERE f.sent_at IS NOT NULL
     )`,
).hasRow;
