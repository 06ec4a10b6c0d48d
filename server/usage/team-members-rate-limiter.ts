import { type PlanName, plans } from '#contract/plans.ts';
import { tooManyRequests } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { FixedWindowLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { teamMembersRateMultiple } from './limits.ts';

/**
 * Rate limiter for all members of a team together, per minute and process (specification section 12.3). Its limit is
 * five times that of the team's keys. Keys are counted apart, so that pages and integrations never use up each other's
 * requests.
 */
export class TeamMembersRateLimiter {
  readonly #limit: FixedWindowLimiter;

  constructor(clock: Clock) {
    this.#limit = new FixedWindowLimiter(clock);
  }

  /** Counts a request. @throws AppError 429 with retry-after: whole seconds until the minute ends */
  take(teamId: TeamId, plan: PlanName): void {
    const perMinute = teamMembersRateMultiple * plans[plan].requestsPerMinute;
    if (this.#limit.allows(teamId, perMinute)) return;
    throw tooManyRequests(
      this.#limit.secondsLeft,
      `the members of a team on the plan ${plan} have ${perMinute} a minute together`,
    );
  }
}
