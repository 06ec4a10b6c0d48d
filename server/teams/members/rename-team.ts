import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { setTeamName, type TeamRow } from '#server/teams/team/team-store.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Renames a team (specification section 4.1). Owners get a mail if an API key renames it.
 * @param name undefined changes nothing
 * @returns the updated team
 * @throws AppError 429 for too many changes by API keys
 */
export async function renameTeam(
  services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'config' | 'secrets'>,
  teamId: TeamId,
  name: string | undefined,
  by: AuditActor,
): Promise<TeamRow> {
  if (name !== undefined) refuseHiddenCharacters('name', name);
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    if (name === undefined || name === team.name) return team;
    await mailKeyChange(trx, services, team, by, `renamed the team to ${name}`);
    await setTeamName(trx, teamId, name);
    await recordAudit(trx, services, { by, action: 'team.renamed', teamId, details: { name } });
    return { ...team, name };
  });
}
