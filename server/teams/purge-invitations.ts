import type { Runtime } from '#server/database/runtime.ts';
import { deleteEndedInvitations } from './invitation-store.ts';

/** How long an invitation is kept that was accepted, revoked or not used: whom it was for is nobody's business for ever. */
const retentionMs = 30 * 24 * 3_600_000;

/** Deletes invitations 30 days after they ended (specification section 3.5); the audit log still says that they were. */
export async function purgeInvitations({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  await deleteEndedInvitations(database.pool, new Date(clock.nowMs() - retentionMs));
}
