import type { Runtime } from '#server/database/runtime.ts';
import { forgetExpiredChallenges } from './passkey-challenge-store.ts';
import { forgetExpiredSessions } from './session-store.ts';
import { forgetExpiredLinks } from './sign-in-link-store.ts';
import { purgeWindows } from './throttle-store.ts';

/** Of what is counted, the longest window is an hour. */
const windowMs = 3_600_000;

/** Deletes sessions, links, challenges and counts that can't matter any more: what has expired does not work before, either. */
export async function forgetExpired({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  const now = clock.now();
  await forgetExpiredSessions(database.pool, now);
  await forgetExpiredLinks(database.pool, now);
  await forgetExpiredChallenges(database.pool, now);
  await purgeWindows(database.pool, clock.in(-windowMs));
}
