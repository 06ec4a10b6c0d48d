import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { countMembers } from '#server/teams/members/member-store.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plan-limit.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import { countLiveInvitations } from './invitation-store.ts';

/** Counts the seats in use: members and live invitations together (specification section 4.1). */
export async function countSeats(
  db: Queryable,
  { clock }: Pick<Runtime, 'clock'>,
  teamId: TeamId,
): Promise<number> {
  return (await countMembers(db, teamId)) + (await countLiveInvitations(db, teamId, clock.expiryNow()));
}

/**
 * Refuses one more member than the plan allows (specification section 8).
 * @param current the number of seats in use
 * @param remedy as in `PlanLimit`
 * @throws AppError 402
 */
export function requireFreeSeat(
  team: TeamRow,
  current: number,
  config: Pick<Config, 'appUrl'>,
  remedy: string,
): void {
  requireBelowPlanLimit(config, team, 'member', current, remedy);
}
