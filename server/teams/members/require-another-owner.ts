import type { Transaction } from '#server/database/statement.ts';
import { conflict } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { countOwners } from './member-store.ts';

/**
 * Refuses to end the last ownership of a team (specification section 12.4). The caller has locked the team's row, so
 * that of two owners who leave at once only one can.
 * @throws AppError 409
 */
export async function requireAnotherOwner(trx: Transaction, teamId: TeamId): Promise<void> {
  if ((await countOwners(trx, teamId)) > 1) return;
  throw conflict('A team needs an owner, and this is the last one. Make another member an owner first.');
}
