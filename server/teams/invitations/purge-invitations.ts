import type { Runtime } from '#server/database/runtime.ts';
import { endedInvitationRetentionMs } from '#server/teams/limits.ts';
import { deleteEndedInvitations } from './invitation-store.ts';

/** Deletes invitations 30 days after they ended (specification section 3.5). The audit log keeps their entries. */
export async function purgeInvitations({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  await deleteEndedInvitations(database.pool, new Date(clock.nowMs() - endedInvitationRetentionMs));
}
