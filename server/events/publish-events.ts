import { feedChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publishNext, tryPublisherLock } from './feed-store.ts';

/** Events of one batch: a transaction of some milliseconds. */
export const batchMax = 1_000;

/** Batches that follow each other at once; a round, a second later at the latest, goes on. */
const batchesMax = 100;

/**
 * Moves events that were written to the feed, batch by batch (specification section 4.5, decision 0017). Where two
 * processes publish at once, one does the work of a batch and the other has nothing to do: it was told of the same events,
 * so that whoever had the turn looks again after them.
 * @returns how many got their place
 */
export async function publishEvents({ database }: Pick<Runtime, 'database'>): Promise<number> {
  let published = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const moved = await database.transaction(async (trx) => {
      // A statement of its own: what the next one sees begins after the turn of whoever had it before.
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
