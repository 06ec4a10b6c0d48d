import { planNames, plans } from '#contract/plans.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamRow } from './team-store.ts';

interface PlanLimit {
  /** A sentence that says which limit it is. */
  readonly reason: string;
  /** Advice beside a larger plan: an imperative without a full stop. */
  readonly remedy: string;
  readonly limit: number;
  /** How much of the limit is in use. */
  readonly current: number;
  /** True if no plan allows more. */
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

/** Items that count, too. */
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
