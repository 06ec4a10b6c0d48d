import { purgeExpiredMagicLinks } from '#server/accounts/magic-links/magic-link-store.ts';
import { purgeExpiredChallenges } from '#server/accounts/passkeys/passkey-challenge-store.ts';
import { purgeExpiredSessions } from '#server/accounts/sessions/session-store.ts';
import { purgeWindows } from '#server/accounts/throttling/throttle-store.ts';
import type { Runtime } from '#server/database/runtime.ts';

/** An hour, the longest window of a throttle. */
const windowMs = 3_600_000;

/** Deletes expired sessions, magic links, passkey challenges and throttle counters, which have no effect any more. */
export async function purgeExpired({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  const now = clock.now();
  await purgeExpiredSessions(database.pool, now);
  await purgeExpiredMagicLinks(database.pool, now);
  await purgeExpiredChallenges(database.pool, now);
  await purgeWindows(database.pool, clock.in(-windowMs));
}
