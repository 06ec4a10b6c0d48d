import type { Runtime } from '#server/database/runtime.ts';
import { purgeExpiredMagicLinks } from './magic-link-store.ts';
import { purgeExpiredChallenges } from './passkey-challenge-store.ts';
import { purgeExpiredSessions } from './session-store.ts';
import { purgeWindows } from './throttle-store.ts';

/** Of what is counted, the longest window is an hour. */
const windowMs = 3_600_000;

/** Deletes sessions, links, challenges and counts that can't matter any more: what has expired does not work before, either. */
export async function purgeExpired({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  const now = clock.now();
  await purgeExpiredSessions(database.pool, now);
  await purgeExpiredMagicLinks(database.pool, now);
  await purgeExpiredChallenges(database.pool, now);
  await purgeWindows(database.pool, clock.in(-windowMs));
}
