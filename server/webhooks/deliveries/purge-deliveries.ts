import {
  type History,
  lockOldRows,
  nextIdOf,
  type OldTeamRow,
  removeOldRows,
} from '#server/database/purge-walk.ts';
import { transactionQuery } from '#server/database/query.ts';

/** Deliveries with their attempts, as a table that retention shortens. A pending delivery stays, even an old one. */
export const deliveryHistory: History<OldTeamRow> = {
  name: 'deliveries',
  findNext: nextIdOf('deliveries'),
  lock: lockOldRows('deliveries', "h.status <> 'pending'"),
  remove: removeOldRows('deliveries'),
};

interface OldAttempt extends OldTeamRow {
  readonly delivery_id: string;
}

// Reads team by team along the primary key, by the ids of the deliveries: an attempt is never older than its delivery. An
// attempt that an erasure has locked waits for the next walk.
const lock = transactionQuery<
  { from: string; to: string; bound: string; passedOver: readonly string[]; limit: number },
  OldAttempt
>(
  'attempts.lock-old',
  `SELECT o.* FROM teams t CROSS JOIN LATERAL (
     SELECT a.team_id, a.delivery_id, a.id FROM attempts a
     WHERE a.team_id = t.id AND a.delivery_id >= :from AND a.delivery_id < :to AND a.id < :bound
       AND a.id <> ALL (:passedOver::uuid[])
     ORDER BY a.team_id, a.delivery_id, a.id LIMIT :limit FOR UPDATE SKIP LOCKED
   ) o LIMIT :limit`,
);
const remove = transactionQuery<{ teamIds: string[]; deliveryIds: string[]; ids: string[] }>(
  'attempts.purge',
  `DELETE FROM attempts a USING unnest(:teamIds::uuid[], :deliveryIds::uuid[], :ids::uuid[]) AS i (team_id, delivery_id, id)
   WHERE a.team_id = i.team_id AND a.delivery_id = i.delivery_id AND a.id = i.id`,
);

/**
 * Attempts with their responses, which are kept for DELIVERY_LOG_DAYS. A range of the purge consists of delivery ids,
 * and the deliveries stay.
 * @param boundId returns the least id of an attempt that stays
 */
export function attemptHistory(boundId: () => string): History<OldAttempt> {
  return {
    name: 'attempts',
    findNext: nextAttempt,
    lock: (trx, { from, to }, limit, passedOver) =>
      lock.rows(trx, { from, to, bound: boundId(), passedOver, limit }),
    remove: (trx, rows) =>
      remove.run(trx, {
        teamIds: rows.map((row) => row.team_id),
        deliveryIds: rows.map((row) => row.delivery_id),
        ids: rows.map((row) => row.id),
      }),
  };
}

const nextAttempt = nextIdOf('attempts', 'delivery_id');
