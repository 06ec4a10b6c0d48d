import type { Runtime } from '#server/database/runtime.ts';
import { incompleteMediaMs } from './limits.ts';
import { removeAbandonedMedia } from './media-store.ts';

/** Upper bound on the files that one transaction removes; each has up to 20 chunks. */
const roundMax = 50;

/** Removes incomplete files whose writer died. @returns the number of removed files */
export async function purgeAbandonedMedia({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<number> {
  const before = clock.in(-incompleteMediaMs);
  let removed = 0;
  for (;;) {
    const round = await database.transaction((trx) => removeAbandonedMedia(trx, before, roundMax));
    removed += round;
    if (round < roundMax) return removed;
  }
}
