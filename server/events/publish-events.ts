import { feedChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publishNext, tryPublisherLock } from './feed-store.ts';

/** Maximum number of events in one batch, which is a transaction of some milliseconds. */
const batchMax = 1_000;

/** Maximum number of batches in one round; the next round begins at most a second later. */
const batchesMax = 100;

/**
 * Publishes events: moves them to the feed, batch by batch (specification section 4.5, decision 0017). If two processes
 * publish at once, one gets the publisher lock and the other returns. The process with the lock reads again after its
 * batch, and so publishes the events of both notifications.
 * @returns the number of published events
 */
export async function publishEvents({ database }: Pick<Runtime, 'database'>): Promise<number> {
  let published = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const moved = await database.transaction(async (trx) => {
      // The lock is taken in a separate statement, so that the snapshot of the next one begins after the previous
      // publisher has released the lock.
      if (!(await tryPublisherLock(trx))) return 0;
      const teams = await publishNext(trx, batchMax);
      if (teams.length > 0)
        trx.notifyAfterCommit(
          feedChannel,
          teams.map((team) => team.team_id),
        );
      if (teams.length > 0) failpoint('positions before commit');
      return teams.reduce((sum, team) => sum + team.events, 0);
    });
    published += moved;
    if (moved < batchMax) break;
  }
  return published;
}
