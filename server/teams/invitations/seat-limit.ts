import { plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { countMembers } from '#server/teams/members/member-store.ts';
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
 * @param advice the end of the error's text, which says what the caller can do
 * @throws AppError 402
 */
export function requireFreeSeat(
  team: TeamRow,
  current: number,
  { appUrl }: Pick<Config, 'appUrl'>,
  advice: string,
): void {
  const limit = plans[team.plan].members;
  if (current < limit) return;
  throw new AppError(
    'plan_limit_exceeded',
    `The plan ${team.plan} allows ${limit} member${limit === 1 ? '' : 's'}. ${advice}`,
    { details: { limit, current, upgrade_url: `${appUrl}/billing` } },
  );
}
