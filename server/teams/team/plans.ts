import { type PlanName, planNames, plans } from '#contract/plans.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { AppError, notFound } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { setTeamPlan, type TeamRow } from './team.ts';

type TeamLimits = Pick<TeamRow, 'plan' | 'monthly_message_limit'>;

/** The plans that the owners of a team may choose, and those of the operator (docs/configuration.md). */
export interface PlanChoice {
  /** Plans that the owners may choose themselves, smallest first, without the present plan. */
  readonly choosable: readonly PlanName[];
  /** Whether the owners could return to the present plan after they have chosen another one. */
  readonly mayReturn: boolean;
  /** Plans that only the operator gives. */
  readonly ofOperator: readonly PlanName[];
}

/**
 * Whether the operator set a monthly limit that differs from the plan's. Owners may then choose no plan, because that
 * would change the limit. The smaller of both limits is no way out: an owner could undo it with two choices.
 */
export function hasOwnLimit({ plan, monthly_message_limit: limit }: TeamLimits): boolean {
  return limit !== plans[plan].monthlyMessages;
}

export function isSmaller(plan: PlanName, than: PlanName): boolean {
  return planNames.indexOf(plan) < planNames.indexOf(than);
}

export function planChoice(
  { largestChosenPlan }: Pick<Config, 'largestChosenPlan'>,
  team: TeamLimits,
): PlanChoice {
  const largest =
    largestChosenPlan === undefined || hasOwnLimit(team) ? -1 : planNames.indexOf(largestChosenPlan);
  const isLowered = team.monthly_message_limit < plans[team.plan].monthlyMessages;
  return {
    mayReturn: planNames.indexOf(team.plan) <= largest,
    choosable: planNames.filter((plan, index) => index <= largest && plan !== team.plan),
    // If the team's monthly limit was lowered, the operator may give the same plan again, to restore the plan's limit.
    ofOperator: planNames.filter((plan, index) => index > largest && (plan !== team.plan || isLowered)),
  };
}

interface PlanLimit {
  /** A sentence that says which limit it is. */
  readonly reason: string;
  /** Advice for staying within the limit, beside a larger plan: an imperative without a full stop. */
  readonly remedy: string;
  readonly limit: number;
  /** How many items the team has, or how many messages it has sent. */
  readonly current: number;
  /** True if no larger plan raises this limit. */
  readonly isLargest?: boolean;
  /** When the count starts at 0 again; only for the monthly limit of messages. */
  readonly resets_at?: string;
}

/** The error 402 for a limit of a team's plan (specification section 8). Its message names the page with the plans. */
export function planLimitExceeded(
  { appUrl }: Pick<Config, 'appUrl'>,
  { reason, remedy, limit, current, isLargest = false, ...rest }: PlanLimit,
  options: { readonly param?: string } = {},
): AppError {
  const upgradeUrl = `${appUrl}/billing`;
  const advice = isLargest ? '. No plan allows more.' : `, or see ${upgradeUrl} for a larger plan.`;
  return new AppError('plan_limit_exceeded', `${reason} ${remedy}${advice}`, {
    ...options,
    details: { limit, current, upgrade_url: upgradeUrl, ...rest },
  });
}

/** For the error's message: which items also count. */
const included = {
  member: ', open invitations included',
  number: ', pending ones included',
  webhook: '',
};

/**
 * Refuses one item more than the plan allows. The team's row is locked from the count to the insert, so that concurrent
 * requests cannot exceed the plan.
 * @param current the number of items that count
 * @param remedy as in `PlanLimit`
 * @throws AppError 402
 */
export function requireBelowPlanLimit(
  config: Pick<Config, 'appUrl'>,
  { plan }: TeamRow,
  noun: keyof typeof included,
  current: number,
  remedy: string,
): void {
  const limit = plans[plan][`${noun}s`];
  if (current < limit) return;
  const reason = `The plan ${plan} allows ${limit} ${noun}${limit === 1 ? '' : 's'}${included[noun]}.`;
  const isLargest = plan === planNames.at(-1);
  throw planLimitExceeded(config, { reason, remedy, limit, current, isLargest });
}

interface NewPlan {
  readonly plan: PlanName;
  /** Messages per calendar month. */
  readonly monthlyMessageLimit: number;
}

/**
 * Changes a team's plan; members, numbers and webhooks above the new limits stay (specification section 8). @throws 404
 */
export async function changePlan(services: Runtime, teamId: TeamId, newPlan: NewPlan, by: AuditActor) {
  return services.database.transaction((trx) => writePlan(trx, services, teamId, newPlan, by));
}

/** Changes a team's plan in the caller's transaction. @throws 404 */
export async function writePlan(
  trx: Transaction,
  services: Runtime,
  teamId: TeamId,
  { plan, monthlyMessageLimit }: NewPlan,
  by: AuditActor,
): Promise<TeamRow> {
  const team = await setTeamPlan(trx, { teamId, plan, monthlyMessageLimit });
  if (!team) throw notFound('team');
  await recordAudit(trx, services, {
    by,
    action: 'team.plan_changed',
    teamId,
    details: { plan, monthly_message_limit: monthlyMessageLimit },
  });
  return team;
}
