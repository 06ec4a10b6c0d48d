import { purgeExpiredMagicLinks } from '#server/accounts/magic-links/magic-link-store.ts';
import { purgeExpiredChallenges } from '#server/accounts/passkeys/passkey-challenge-store.ts';
import { purgeExpiredSessions } from '#server/accounts/sessions/session-store.ts';
import { purgeWindows } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';

/** The longest window of a throttle is an hour. */
const windowMs = 3_600_000;

/**
 * Deletes sessions, links, challenges and counts that have expired. None of them has an effect after its
 * expiry, even before this runs.
 */
export async function purgeExpired({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  const now = clock.now();
  await purgeExpiredSessions(database.pool, now);
  await purgeExpiredMagicLinks(database.pool, now);
  await purgeExpiredChallenges(database.pool, now);
  await purgeWindows(database.pool, clock.in(-windowMs));
}
