import type { PlanName } from '#contract/plans.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { setTeamPlan, type TeamRow } from './team-store.ts';

interface NewPlan {
  readonly plan: PlanName;
  /** Messages per calendar month. */
  readonly monthlyMessageLimit: number;
}

/**
 * Changes a team's plan; members, numbers and webhooks above the new limits stay (specification section 8). @throws 404
 */
export async function changePlan(
  services: Pick<Runtime, 'database' | 'ids' | 'clock'>,
  teamId: TeamId,
  newPlan: NewPlan,
  by: AuditActor,
): Promise<TeamRow> {
  return services.database.transaction((trx) => writePlan(trx, services, teamId, newPlan, by));
}

/** Changes a team's plan in the caller's transaction. @throws 404 */
export async function writePlan(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock'>,
  teamId: TeamId,
  { plan, monthlyMessageLimit }: NewPlan,
  by: AuditActor,
): Promise<TeamRow> {
  const team = await setTeamPlan(trx, teamId, plan, monthlyMessageLimit);
  if (!team) throw notFound('team');
  await recordAudit(trx, services, {
    by,
    action: 'team.plan_changed',
    teamId,
    details: { plan, monthly_message_limit: monthlyMessageLimit },
  });
  return team;
}
