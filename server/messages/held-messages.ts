import { phoneQueueChannel } from '#server/database/channels.ts';
import { isLocked } from '#server/database/database.ts';
import { type Queryable, query, transactionQuery } from '#server/database/query.ts';
import { heldBefore, type OpenHold } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { firstIdAfter, type MessageId, type NumberId, type TeamId } from '#server/platform/ids.ts';
import { countText } from '#server/platform/text.ts';
import { type Hold, sqlRestoreHold } from './message-store.ts';
import {
  failInRounds,
  hasOverdue,
  inRounds,
  type QueuedRow,
  resolveOverdue,
  roundMax,
} from './sweep-messages.ts';

interface Released {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly number_id: NumberId;
}
const changed = { changes: 'message', team: 'team_id', ids: 'message_id' } as const;

/** Holds all queued messages that are not held yet. */
export const holdQueue = transactionQuery<{ hold: Hold }>(
  'messages.hold-all',
  'UPDATE send_queue SET hold = :hold WHERE hold IS NULL',
).run;
// Reads the next keys, whatever their hold, so that no round reads more. A message whose time has not come was not handed out.
const holdNext = query<QueuedRow & { endId: string; heldAt: Date; limit: number }, QueuedRow>(
  'messages.hold-after-outage',
  `WITH next AS MATERIALIZED (
     SELECT q.ctid AS place, q.team_id, q.message_id FROM send_queue q
     WHERE (q.team_id, q.message_id) > (:team_id::uuid, :message_id::uuid)
     ORDER BY q.team_id, q.message_id LIMIT :limit
   ), held AS (
     UPDATE send_queue q SET hold = 'outage'
     WHERE q.ctid = ANY (ARRAY(SELECT place FROM next)) AND q.message_id < :endId
       AND q.hold IS NULL AND (q.ready_at IS NULL OR q.ready_at <= :heldAt)
   )
   SELECT team_id, message_id FROM next ORDER BY team_id, message_id`,
  changed,
);
/** SQL: a hold that no person has resumed yet keeps its messages. */
const sqlIsOpen = 'EXISTS (SELECT FROM holds WHERE reason = :hold AND resumed_at IS NULL)';
// Until a restore is resumed, a released message gets the restore hold instead.
const listTeams = query<{ holds: readonly Hold[] }, { hold: Hold; team_id: TeamId }>(
  'messages.teams-with-held',
  `SELECT DISTINCT hold, team_id FROM send_queue WHERE hold = ANY (ARRAY(
     SELECT unnest(:holds::text[]) EXCEPT SELECT reason FROM holds WHERE resumed_at IS NULL))`,
);
// The order lets the older message of a contact go first.
const release = query<{ hold: Hold; teamId: TeamId; limit: number }, Released>(
  'messages.release-held',
  `WITH chosen AS MATERIALIZED (
     SELECT q.ctid AS place FROM send_queue q
     WHERE q.hold = :hold AND q.team_id = :teamId AND NOT ${sqlIsOpen}
     ORDER BY q.hold, q.team_id, q.number_id, q.seq LIMIT :limit FOR UPDATE
   )
   UPDATE send_queue SET hold = ${sqlRestoreHold} WHERE ctid = ANY (ARRAY(SELECT place FROM chosen))
   RETURNING team_id, message_id, number_id`,
  changed,
);
// A message with a ready_at counts as queued at that time. Rows that another transaction has locked are released a
// second later.
const releaseDue = query<{ now: Date; limit: number }, Released>(
  'messages.release-due',
  `WITH due AS MATERIALIZED (
     SELECT q.ctid AS place FROM send_queue q WHERE q.ready_at <= :now AND q.hold IS NULL
     ORDER BY q.ready_at LIMIT :limit FOR UPDATE SKIP LOCKED
   )
   UPDATE send_queue SET queued_at = ready_at, ready_at = NULL WHERE ctid = ANY (ARRAY(SELECT place FROM due))
   RETURNING team_id, message_id, number_id`,
  changed,
);

/**
 * Holds what was accepted up to an outage, in rounds. A message that joins the queue later for a second hand-out has the
 * hold already.
 * @param last the message up to which an earlier call came
 * @param forMs after which time no further round begins
 * @returns the message up to which this call came; undefined at the end of the queue
 */
export async function holdAfterOutage(
  { database }: Runtime,
  heldAt: Date,
  last?: QueuedRow,
  forMs = Number.POSITIVE_INFINITY,
): Promise<QueuedRow | undefined> {
  const bounds = { endId: firstIdAfter(heldAt), heldAt, limit: roundMax };
  const endMs = performance.now() + forMs;
  let next: QueuedRow | undefined = last ?? beforeAll;
  do next = (await holdNext.rows(database.pool, { ...next, ...bounds })).at(-1);
  while (next && performance.now() < endMs);
  return next;
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const beforeAll: QueuedRow = { team_id: lowestId as TeamId, message_id: lowestId as MessageId };

/**
 * Releases the messages with one of the holds, in rounds. A restore or outage hold ends only once a person resumes. A
 * message with a ready_at stays in the queue until that time. A team with a locked message keeps its hold until the
 * next call.
 * @returns the number of released messages
 */
export async function releaseHeld({ database }: Runtime, ...holds: readonly Hold[]): Promise<number> {
  let total = 0;
  for (const { hold, team_id: teamId } of await listTeams.rows(database.pool, { holds })) {
    try {
      total += await inRounds(async () =>
        wake(database, await release.rows(database.batches, { hold, teamId, limit: roundMax })),
      );
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
  return total;
}

/** Makes messages ready whose ready_at has come. @returns the number of these messages */
export function releaseDueMessages({ database, clock }: Runtime): Promise<number> {
  const selection = { now: clock.now(), limit: roundMax };
  return inRounds(async () => wake(database, await releaseDue.rows(database.pool, selection)));
}

function wake(database: Runtime['database'], released: readonly Released[]): number {
  if (released.length > 0) database.notify(phoneQueueChannel, new Set(released.map((row) => row.number_id)));
  return released.length;
}

/** SQL: the messages that an outage holds and, after a restore, also all that were accepted up to its time. */
const sqlHeld = `SELECT q.team_id, q.message_id FROM teams t
   CROSS JOIN LATERAL (
     (SELECT q.team_id, q.message_id FROM send_queue q
      WHERE q.team_id = t.id AND q.message_id < :endId ORDER BY q.message_id LIMIT :limit)
     UNION
     (SELECT q.team_id, q.message_id FROM send_queue q
      WHERE q.team_id = t.id AND q.hold = 'outage' ORDER BY q.number_id, q.seq LIMIT :limit)) q`;
const held = query<{ endId: string; limit: number; without: readonly TeamId[] }, QueuedRow>(
  'messages.held',
  `${sqlHeld} WHERE t.id <> ALL(:without::uuid[]) LIMIT :limit`,
);
const counted = query<{ endId: string; limit: number }>(
  'messages.count-held',
  `SELECT count(*) FROM (${sqlHeld} LIMIT :limit) w`,
);
const endIdOf = (hold: OpenHold) => (hold.reason === 'restore' ? firstIdAfter(heldBefore(hold)) : lowestId);

/** Counts the messages that a resume of the hold can cancel; stops at `limit`. */
export const countHeldMessages = (db: Queryable, hold: OpenHold, limit: number): Promise<number> =>
  counted.number(db, { endId: endIdOf(hold), limit });

/**
 * Cancels all messages that the hold covers. Hand-outs in the restored database are resolved first: a message that is
 * queued again for a retry is cancelled, too.
 * @throws AppError 503 if a team's messages could not be cancelled: the caller keeps the hold
 * @returns the number of messages that failed with `cancelled`
 */
export async function cancelHeldMessages(services: Runtime, hold: OpenHold): Promise<number> {
  while ((await resolveOverdue(services)) > 0);
  let cancelled = 0;
  for (;;) {
    const round = await failInRounds(services, 'cancelled', (without) =>
      held.rows(services.database.pool, { endId: endIdOf(hold), limit: roundMax, without }),
    );
    cancelled += round;
    if (round === 0) break;
  }
  const left = await countHeldMessages(services.database.pool, hold, 1);
  if (left === 0 && !(await hasOverdue(services))) return cancelled;
  throw unavailable(
    `${countText(cancelled, 'message')} could be cancelled, and others not: the log says why. Nothing was resumed. Repeat the request.`,
  );
}
