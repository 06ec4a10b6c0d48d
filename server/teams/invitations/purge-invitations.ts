import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { endedInvitationRetentionMs } from '#server/teams/limits.ts';

// Rows that another transaction has locked are skipped until the next round.
const purge = query<{ before: Date }>(
  'invitations.purge',
  `WITH ended AS (
     SELECT id FROM invitations WHERE coalesce(accepted_at, revoked_at, expires_at) < :before FOR UPDATE SKIP LOCKED
   )
   DELETE FROM invitations i USING ended WHERE i.id = ended.id`,
).run;

/** Deletes invitations 30 days after they ended (specification section 3.5). The audit log keeps their entries. */
export async function purgeInvitations({ database, clock }: Runtime): Promise<void> {
  await purge(database.pool, { before: clock.in(-endedInvitationRetentionMs) });
}
