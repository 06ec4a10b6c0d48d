import {
  type History,
  lockOldRows,
  nextIdOf,
  type OldTeamRow,
  removeOldRows,
} from '#server/database/purge-walk.ts';

/** The history of deliveries, with their attempts. A pending delivery stays, and a replay may make one pending. */
export const deliveryHistory: History<OldTeamRow> = {
  name: 'deliveries',
  findNext: nextIdOf('deliveries'),
  lock: lockOldRows('deliveries', "h.status <> 'pending'"),
  remove: removeOldRows('deliveries'),
};
