import { deleteTeamRows } from '#server/database/delete-team-rows.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { lockNumbersOfTeams } from '#server/numbers/number-store.ts';
import { AppError } from '#server/platform/app-error.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { listAccountsOnlyOf } from '#server/teams/members/member-store.ts';
import { findDemoTeam, findTestTeam, lockTeam } from '#server/teams/team/team-store.ts';
import { lockUsage } from '#server/usage/usage-store.ts';

export interface RemovedDemo {
  readonly removed: true;
  readonly id: string;
  /** Rows of all tables that were deleted. */
  readonly rows: number;
}

/**
 * Deletes the demo team with all its rows, its test team and its accounts (specification section 10.12). An account that
 * is a member of another team stays. The locks, in their usual order, make sends and simulated phones wait. Afterwards
 * these find no team and no number.
 * @throws AppError 404 if there is no demo team
 */
export function removeDemo({ database }: Pick<Runtime, 'database'>): Promise<RemovedDemo> {
  return database.transaction(async (trx) => {
    const found = await findDemoTeam(trx);
    const team = found && (await lockTeam(trx, found.id));
    if (!team) throw new AppError('not_found', 'There is no demo team, so nothing was removed.');
    const testTeam = await findTestTeam(trx, team.id);
    const teams = [team.id, ...(testTeam ? [testTeam.id] : [])];
    await lockUsage(trx, teams);
    const numbers = await lockNumbersOfTeams(trx, teams);
    for (const { team_id: teamId, id } of numbers) await lockCurrentSession(trx, teamId, id);
    const rows = await deleteTeamRows(trx, {
      teams,
      accounts: (await listAccountsOnlyOf(trx, team.id, `%@${demoDomain}`)).map((row) => row.account_id),
    });
    return { removed: true, id: publicId('team', team.id), rows };
  });
}
