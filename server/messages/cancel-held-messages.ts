import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { countText } from '#server/platform/count-text.ts';
import { firstIdAfter, type TeamId } from '#server/platform/ids/ids.ts';
import { failInRounds, hasOverdue, type QueuedRow, resolveOverdue, roundMax } from './sweep-messages.ts';

const held = query<{ endId: string; limit: number; without: readonly TeamId[] }, QueuedRow>(
  'messages.held',
  `SELECT q.team_id, q.message_id FROM teams t
   CROSS JOIN LATERAL (
     SELECT q.team_id, q.message_id FROM send_queue q
     WHERE q.team_id = t.id AND q.message_id < :endId ORDER BY q.message_id LIMIT :limit) q
   WHERE t.id <> ALL(:without::uuid[]) LIMIT :limit`,
);
const counted = query<{ endId: string; max: number }>(
  'messages.count-held',
  `SELECT count(*) FROM (
     SELECT FROM teams t
     CROSS JOIN LATERAL (
       SELECT FROM send_queue q WHERE q.team_id = t.id AND q.message_id < :endId ORDER BY q.message_id LIMIT :max) q
     LIMIT :max) w`,
);

/** Counts queued messages that were accepted up to a time; stops at `max`. */
export const countHeldMessages = (db: Queryable, heldBefore: Date, max: number): Promise<number> =>
  counted.number(db, { endId: firstIdAfter(heldBefore), max });

/**
 * Cancels all queued messages that were accepted up to a time. Hand-outs in the restored database are resolved first: a
 * message that is queued again for a retry is cancelled, too.
 * @throws AppError 503 if a team's messages could not be cancelled: the caller keeps the restore hold
 * @returns the number of messages that failed with `cancelled`
 */
export async function cancelHeldMessages(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'logger' | 'metrics'>,
  heldBefore: Date,
): Promise<number> {
  while ((await resolveOverdue(services)) > 0);
  let cancelled = 0;
  for (;;) {
    const round = await failInRounds(services, 'cancelled', (without) =>
      held.rows(services.database.pool, { endId: firstIdAfter(heldBefore), limit: roundMax, without }),
    );
    cancelled += round;
    if (round === 0) break;
  }
  const left = await countHeldMessages(services.database.pool, heldBefore, 1);
  if (left === 0 && !(await hasOverdue(services))) return cancelled;
  throw unavailable(
    `${countText(cancelled, 'message')} could be cancelled, and others not: the log says why. Nothing was resumed. Repeat the request.`,
  );
}
