import { type PlanName, plans } from '#contract/plans.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { hasOwnLimit, isSmaller, planChoice, writePlan } from '#server/teams/team/plans.ts';
import { setTeamName, type TeamRow } from '#server/teams/team/team.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { runTeamChange } from './members.ts';

/**
 * Renames a team (specification section 4.1). Owners get a mail if an API key renames it.
 * @param name undefined changes nothing
 * @returns the updated team
 * @throws AppError 429 for too many changes by API keys
 */
export async function renameTeam(
  services: Runtime,
  teamId: TeamId,
  name: string | undefined,
  by: AuditActor,
): Promise<TeamRow> {
  if (name !== undefined) refuseHiddenCharacters('name', name);
  return runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    if (name === undefined || name === team.name) return team;
    await mailKeyChange(trx, services, team, by, `renamed the team to ${name}`);
    await setTeamName(trx, { teamId, name });
    await recordAudit(trx, services, { by, action: 'team.renamed', teamId, details: { name } });
    return { ...team, name };
  });
}

/**
 * Changes the plan of an owner's team, with the monthly limit of the new plan, as far as PLAN_CHANGES allows
 * (specification section 8). A choice of the present plan changes nothing, and neither does a choice of a smaller plan
 * that was not confirmed.
 * @param inPlaceOf the plan that the owner confirmed to leave; '' before the confirmation
 * @throws AppError 403 for another role; 403, param plan, if only the operator may give the plan
 */
export async function choosePlan(
  services: Runtime,
  teamId: TeamId,
  plan: PlanName,
  by: AuditActor,
  inPlaceOf: string,
): Promise<'changed' | 'kept' | 'unconfirmed'> {
  return runTeamChange(services, { teamId, by, permission: 'billing:manage' }, async (trx, team) => {
    if (plan === team.plan) return 'kept';
    if (!planChoice(services.config, team).choosable.includes(plan)) {
      const reason = hasOwnLimit(team)
        ? 'The operator of this server set the monthly limit of this team, so only the operator changes its plan.'
        : `Only the operator of this server gives the plan ${plan}.`;
      throw forbidden(`${reason} Ask the operator for it.`, 'plan');
    }
    if (isSmaller(plan, team.plan) && inPlaceOf !== team.plan) return 'unconfirmed';
    await writePlan(trx, services, teamId, { plan, monthlyMessageLimit: plans[plan].monthlyMessages }, by);
    return 'changed';
  });
}
