import { phoneQueueChannel } from '#server/database/channels.ts';
import { isLocked } from '#server/database/database.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { type Hold, sqlRestoreHold } from './hold.ts';
import { inRounds, roundMax } from './sweep-messages.ts';

interface Released {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly number_id: NumberId;
}
const changed = { changes: 'message', team: 'team_id', ids: 'message_id' } as const;

const holdAll = transactionQuery<{ hold: Hold }>(
  'messages.hold-all',
  'UPDATE send_queue SET hold = :hold WHERE hold IS NULL',
);
// While a restore is not resumed, its hold takes the place of the released one.
const listTeams = query<{ hold: Hold }, Pick<Released, 'team_id'>>(
  'messages.teams-with-held',
  `SELECT DISTINCT team_id FROM send_queue WHERE hold = :hold AND :hold IS DISTINCT FROM ${sqlRestoreHold}`,
);
// The order lets the older message of a contact go first.
const release = query<{ hold: Hold; teamId: TeamId; limit: number }, Released>(
  'messages.release-held',
  `WITH chosen AS MATERIALIZED (
     SELECT q.ctid AS place FROM send_queue q
     WHERE q.hold = :hold AND q.team_id = :teamId AND :hold IS DISTINCT FROM ${sqlRestoreHold}
     ORDER BY q.hold, q.team_id, q.number_id, q.seq LIMIT :limit FOR UPDATE
   )
   UPDATE send_queue SET hold = ${sqlRestoreHold} WHERE ctid = ANY (ARRAY(SELECT place FROM chosen))
   RETURNING team_id, message_id, number_id`,
  changed,
);
// A message for later is as old as its time. Another transaction's rows are skipped until the next second.
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

/** Holds all queued messages that are not held yet. */
export const holdQueue = (trx: Transaction, hold: Hold): Promise<void> => holdAll.run(trx, { hold });

/**
 * Releases the messages with a hold, in rounds. The hold of a restore ends only once it is resumed. A message for later
 * stays in the queue until its time. A team with a locked message keeps its hold until the next call.
 * @returns how many were released
 */
export async function releaseHeld({ database }: Pick<Runtime, 'database'>, hold: Hold): Promise<number> {
  let total = 0;
  for (const { team_id: teamId } of await listTeams.rows(database.pool, { hold })) {
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

/** Makes messages for later ready whose time has come. @returns how many */
export function releaseDueMessages({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<number> {
  const selection = { now: clock.now(), limit: roundMax };
  return inRounds(async () => wake(database, await releaseDue.rows(database.pool, selection)));
}

function wake(database: Runtime['database'], released: readonly Released[]): number {
  if (released.length > 0) database.notify(phoneQueueChannel, new Set(released.map((row) => row.number_id)));
  return released.length;
}
