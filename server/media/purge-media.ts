import type { Runtime } from '#server/database/runtime.ts';
import { incompleteMediaMs } from './limits.ts';
import { removeAbandonedMedia } from './media-store.ts';

/** Upper bound on the files that one transaction removes; each has up to 20 chunks. */
const roundMax = 50;

/** Removes incomplete files whose writer died. */
export async function purgeAbandonedMedia({ database, clock }: Runtime): Promise<void> {
  const before = clock.in(-incompleteMediaMs);
  let removed: number;
  do removed = await database.transaction((trx) => removeAbandonedMedia(trx, before, roundMax));
  while (removed === roundMax);
}
