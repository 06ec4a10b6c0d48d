import { phoneQueueChannel } from '#server/database/channels.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { type Hold, sqlHoldOnJoin } from './hold.ts';
import { inRounds, roundMax } from './sweep-messages.ts';

interface Released {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly number_id: NumberId;
}
type ReleaseServices = Pick<Runtime, 'database' | 'clock'>;
const changed = { changes: 'message', team: 'team_id', ids: 'message_id' } as const;

const holdAll = transactionQuery<{ hold: Hold }>(
  'messages.hold-all',
  'UPDATE send_queue SET hold = :hold WHERE hold IS NULL',
);
// While a restore is not resumed, its hold takes the place of the released one.
const mayRelease = `:hold IS DISTINCT FROM ${sqlHoldOnJoin}`;
// The order lets the older message of a contact go first.
const releaseAll = query<{ hold: Hold; firstTeam: string; lastTeam: string; limit: number }, Released>(
  'messages.release-held',
  `WITH chosen AS MATERIALIZED (
     SELECT q.ctid AS place FROM send_queue q
     WHERE q.hold = :hold AND q.team_id BETWEEN :firstTeam AND :lastTeam AND ${mayRelease}
     ORDER BY q.hold, q.team_id, q.number_id, q.seq LIMIT :limit FOR UPDATE
   )
   UPDATE send_queue SET hold = ${sqlHoldOnJoin} WHERE ctid = ANY (ARRAY(SELECT place FROM chosen))
   RETURNING team_id, message_id, number_id`,
  changed,
);
// The index of holds can't serve IS NOT DISTINCT FROM, so that every plan takes the key.
const releaseOne = query<{ hold: Hold; teamId: TeamId; messageId: MessageId }, Released>(
  'messages.release-held-message',
  `UPDATE send_queue SET hold = ${sqlHoldOnJoin}
   WHERE team_id = :teamId AND message_id = :messageId AND hold IS NOT DISTINCT FROM :hold AND ${mayRelease}
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

const everyTeam = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;

/** Holds all queued messages that are not held yet. */
export const holdQueue = (trx: Transaction, hold: Hold): Promise<void> => holdAll.run(trx, { hold });

/**
 * Releases the messages with a hold in rounds: all, those of a team, or one message. The hold of a restore ends only
 * once it is resumed. A message for later stays in the queue until its time. @returns how many were released
 */
export async function releaseHeld(
  { database }: Pick<Runtime, 'database'>,
  hold: Hold,
  of?: { readonly teamId: TeamId; readonly messageId?: MessageId },
): Promise<number> {
  if (of?.messageId !== undefined) {
    const { teamId, messageId } = of;
    return wake(database, await releaseOne.rows(database.pool, { hold, teamId, messageId }));
  }
  const [firstTeam, lastTeam] = of ? [of.teamId, of.teamId] : everyTeam;
  const selection = { hold, firstTeam, lastTeam, limit: roundMax };
  let total = 0;
  for (;;) {
    const released = wake(database, await releaseAll.rows(database.pool, selection));
    if (released === 0) return total;
    total += released;
  }
}

/** Makes messages for later ready whose time has come. @returns how many */
export function releaseDueMessages({ database, clock }: ReleaseServices): Promise<number> {
  const selection = { now: clock.now(), limit: roundMax };
  return inRounds(async () => wake(database, await releaseDue.rows(database.pool, selection)));
}

function wake(database: Runtime['database'], released: readonly Released[]): number {
  if (released.length > 0) database.notify(phoneQueueChannel, new Set(released.map((row) => row.number_id)));
  return released.length;
}
