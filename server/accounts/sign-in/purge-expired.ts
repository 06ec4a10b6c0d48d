import { purgeExpiredMagicLinks } from '#server/accounts/magic-links/magic-link-store.ts';
import { purgeExpiredChallenges } from '#server/accounts/passkeys/passkey-challenge-store.ts';
import { purgeExpiredSessions } from '#server/accounts/sessions/session-store.ts';
import { purgeWindows } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';

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
