import { type PlanName, plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { writePlan } from '#server/teams/team/change-plan.ts';
import { hasOwnLimit, isSmaller, planChoice } from '#server/teams/team/plan-choice.ts';
import { runTeamChange } from './run-team-change.ts';

/**
 * Changes the plan of an owner's team, with the monthly limit of the new plan, as far as PLAN_CHANGES allows
 * (specification section 8). A choice of the present plan changes nothing, and neither does an unconfirmed smaller one.
 * @param inPlaceOf the plan that the owner confirmed to leave; '' before
 * @throws AppError 403 for another role; 403, param plan, if only the operator may give the plan
 */
export async function choosePlan(
  services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'config'>,
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
