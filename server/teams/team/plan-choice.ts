import { type PlanName, planNames, plans } from '#contract/plans.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamRow } from './team-store.ts';

type TeamLimits = Pick<TeamRow, 'plan' | 'monthly_message_limit'>;

/** The plans that the owners of a team may choose, and those of the operator (specification section 8). */
export interface PlanChoice {
  /** Plans that they may choose themselves, smallest first; the present one is not among them. */
  readonly choosable: readonly PlanName[];
  /** Whether they could choose the present plan again after another one. */
  readonly mayReturn: boolean;
  /** Plans that only the operator gives. */
  readonly ofOperator: readonly PlanName[];
}

/** Whether the operator set the monthly limit apart from the plan. Then owners may not change it by choosing a plan. */
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
    // The plan of the team itself is given to get its own monthly limit back.
    ofOperator: planNames.filter((plan, index) => index > largest && (plan !== team.plan || isLowered)),
  };
}
