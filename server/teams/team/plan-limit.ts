import { plans } from '#contract/plans.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { Config } from '#server/platform/config.ts';
import type { TeamRow } from './team-store.ts';

interface PlanLimit {
  readonly limit: number;
  /** How much of the limit is in use. */
  readonly current: number;
  /** When the count starts at 0 again; only for the monthly limit of messages. */
  readonly resets_at?: string;
}

/** The error 402 for a limit of a team's plan (specification section 8). */
export function planLimitExceeded(
  { appUrl }: Pick<Config, 'appUrl'>,
  message: string,
  { limit, current, ...rest }: PlanLimit,
  options: { readonly param?: string } = {},
): AppError {
  const details = { limit, current, upgrade_url: `${appUrl}/billing`, ...rest };
  return new AppError('plan_limit_exceeded', message, { ...options, details });
}

/**
 * Refuses one item more than the plan allows. The team's row is locked from the count to the insert, so that concurrent
 * requests cannot exceed the plan.
 * @param current the number of items that count
 * @param rest the rest of the error's text after the noun: what counts, and what the caller can do
 * @throws AppError 402
 */
export function requireBelowPlanLimit(
  config: Pick<Config, 'appUrl'>,
  { plan }: TeamRow,
  noun: 'member' | 'number' | 'webhook',
  current: number,
  rest: string,
): void {
  const limit = plans[plan][`${noun}s`];
  if (current < limit) return;
  const message = `The plan ${plan} allows ${limit} ${noun}${limit === 1 ? '' : 's'}${rest}`;
  throw planLimitExceeded(config, message, { limit, current });
}
