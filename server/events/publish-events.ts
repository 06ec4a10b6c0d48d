import { feedChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publishNext, tryPublisherLock } from './feed-store.ts';

/** Events of one batch: a transaction of some milliseconds. */
const batchMax = 1_000;

/** Batches that follow each other at once; the next round, a second later at the latest, continues. */
const batchesMax = 100;

/**
 * Publishes events: moves them to the feed, batch by batch (specification section 4.5, decision 0017). If two processes
 * publish at once, one takes the lock and the other returns. Both were notified of the same events, and the holder of
 * the lock looks again after them.
 * @returns how many got their position
 */
export async function publishEvents({ database }: Pick<Runtime, 'database'>): Promise<number> {
  let published = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const moved = await database.transaction(async (trx) => {
      // A statement of its own: the next one's snapshot begins after the previous holder has released the lock.
      if (!(await tryPublisherLock(trx))) return 0;
      const teams = await publishNext(trx, batchMax);
      if (teams.length > 0)
        trx.notifyAfterCommit(
          feedChannel,
          teams.map((team) => team.team_id),
        );
      if (teams.length > 0) failpoint('places before commit');
      return teams.reduce((sum, team) => sum + team.events, 0);
    });
    published += moved;
    if (moved < batchMax) break;
  }
  return published;
}
