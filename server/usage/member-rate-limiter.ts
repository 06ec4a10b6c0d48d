import { type PlanName, plans } from '#contract/plans.ts';
import { tooManyRequests } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { FixedWindowLimiter } from '#server/platform/network/fixed-window-limiter.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { memberRequestsMultiple } from './limits.ts';

/**
 * What the members of a team may ask of it in a minute, all together and in this process (specification section 12.3):
 * five times what its keys may, and apart from that, so that neither a page takes a system's requests nor the other way.
 */
export class MemberRateLimiter {
  readonly #limit: FixedWindowLimiter;

  constructor(clock: Clock) {
    this.#limit = new FixedWindowLimiter(clock);
  }

  /** Lets one through. @throws AppError 429 with retry-after: whole seconds until the minute ends */
  take(teamId: TeamId, plan: PlanName): void {
    if (this.#limit.allows(teamId, memberRequestsMultiple * plans[plan].requestsPerMinute)) return;
    throw tooManyRequests(this.#limit.secondsLeft);
  }
}
