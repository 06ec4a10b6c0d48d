import { type PlanName, plans } from '#contract/plans.ts';
import { throwNothingStored } from '#server/database/database.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { LimitConcurrency, Principal } from '#server/http/route.ts';
import { AppError, tooManyRequests, unavailable } from '#server/platform/app-error.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { windowSecondsLeft } from '#server/platform/network/fixed-window-limiter.ts';

/** How many requests of one team run at once in this process: half of the connections for pages. */
export const teamRequestsRunningMax = 3;

/** How many requests of a team may wait in each queue: of its keys, and of its members. */
export const teamRequestsWaitingMax = 1_000;

/** Time-out of a waiting request: as long as a statement may take, and shorter than the time-out of most clients. */
export const teamRequestWaitMaxMs = 10_000;

/**
 * Time-out of a phone's waiting call: as long as iOS waits for an answer, because a phone may not repeat a refused
 * text. The rate limits of a device token bound the number of such calls.
 */
const deviceCallWaitMaxMs = 60_000;

/**
 * Concurrency limiter: a semaphore per team that each request passes (specification section 8), so that no team takes
 * all database connections. Keys, members, polls of phones and other calls of phones each have a queue per team. The
 * queues are served in turn, so a dashboard stays usable beside a busy integration. Requests about a person's own
 * account are limited per account.
 */
export function createTeamConcurrencyLimiter({ clock }: Runtime): LimitConcurrency {
  const semaphore = new KeyedSemaphore({ clock, runningMax: teamRequestsRunningMax });
  return (caller, work) => {
    const { principal, signedIn, device } = caller ?? {};
    if (principal) return semaphore.run(principal.teamId, requestQueue(principal.actor.kind), work);
    if (signedIn) return semaphore.run(signedIn.accountId, requestQueue('account'), work);
    if (device) return semaphore.run(device.teamId, deviceQueue(device.isPoll ? 'poll' : 'device'), work);
    return work();
  };
}

const requestQueue = (name: Principal['actor']['kind']): QueueBounds => ({
  name,
  waitingMax: teamRequestsWaitingMax,
  waitMaxMs: teamRequestWaitMaxMs,
  refuse: () =>
    unavailable(
      `Too many requests at once: ${teamRequestsRunningMax} run and ${teamRequestsWaitingMax} wait. Repeat the request in a moment, with fewer at a time.`,
    ),
});

const deviceQueue = (name: string): QueueBounds => ({
  name,
  waitingMax: Number.POSITIVE_INFINITY,
  waitMaxMs: deviceCallWaitMaxMs,
  refuse: () =>
    unavailable('Too many requests of the phones of this team wait. Repeat the request in a moment.'),
});

const windowSeconds = 60;
const windowMs = windowSeconds * 1_000;

/**
 * The share of a limit that a process reserves at once, but at least one permit. Unused permits are lost at the end of
 * the minute.
 */
const blockShare = 0.01;

interface ReservedRow {
  /** Permits taken in the stored minute, including this reservation; may exceed the limit. */
  readonly taken: number;
  /** The stored minute, counted since 1970. */
  readonly minute: number;
}

/**
 * The clocks of two processes differ by milliseconds, so the stored minute may be one ahead of this process's minute. A
 * minute further ahead comes from a wrong clock, and is overwritten.
 */
const minutesAheadMax = 1;

const reservePermits = query<{ teamId: TeamId; minute: number; wanted: number }, ReservedRow>(
  'usage.reserve-permits',
  `INSERT INTO rate_windows AS w (team_id, minute, taken) VALUES (:teamId, :minute, :wanted)
   ON CONFLICT (team_id) DO UPDATE SET
     minute = CASE WHEN w.minute = excluded.minute + ${minutesAheadMax} THEN w.minute ELSE excluded.minute END,
     taken = CASE WHEN w.minute BETWEEN excluded.minute AND excluded.minute + ${minutesAheadMax}
       THEN w.taken + excluded.taken ELSE excluded.taken END
   RETURNING taken, minute`,
).one;

interface Window {
  minute: number;
  /** Permits that this process has reserved and not used. */
  permits: number;
  /** Permits that all processes have taken for the team, as of the last reservation. */
  taken: number;
  waiting: number;
  block: Promise<void> | undefined;
}

/**
 * How many teams a process remembers. Reserved permits of further teams are dropped, and reserved again when needed.
 */
const windowsMax = 10_000;

/**
 * Rate limiter per team and minute, over all processes (specification section 7.2, decision 0011). A process reserves
 * permits in blocks of a hundredth of the limit. So the limit applies to all processes together, and most requests cost
 * no statement. A team at its limit is refused until the minute ends.
 */
export class TeamRateLimiter {
  readonly #services: Runtime;
  readonly #windows = new BoundedMap<TeamId, Window>(windowsMax);

  constructor(services: Runtime) {
    this.#services = services;
  }

  /**
   * Counts a request of a team.
   * @returns the headers ratelimit-policy and ratelimit (IETF draft "RateLimit header fields")
   * @throws AppError 429 with retry-after: whole seconds until the minute ends
   */
  async take(teamId: TeamId, plan: PlanName): Promise<Readonly<Record<string, string>>> {
    const limit = plans[plan].requestsPerMinute;
    const window = this.#window(teamId);
    const secondsLeft = windowSecondsLeft(this.#services.clock.nowMs(), windowMs);
    const headers = (left: number) => ({
      'ratelimit-policy': `"team";q=${limit};w=${windowSeconds}`,
      ratelimit: `"team";r=${left};t=${secondsLeft}`,
    });
    if (window.permits > 0) {
      window.permits -= 1;
      return headers(Math.max(0, limit - window.taken) + window.permits);
    }
    if (window.taken >= limit) {
      const refusal = tooManyRequests(secondsLeft);
      throw new AppError(refusal.code, refusal.message, {
        headers: { ...refusal.headers, ...headers(0) },
      });
    }
    window.waiting += 1;
    window.block ??= this.#reserveBlock(teamId, window, limit).finally(() => {
      window.block = undefined;
    });
    await window.block.finally(() => {
      window.waiting -= 1;
    });
    return this.take(teamId, plan);
  }

  #window(teamId: TeamId): Window {
    const minute = Math.floor(this.#services.clock.nowMs() / windowMs);
    const known = this.#windows.get(teamId);
    if (known && known.minute >= minute && known.minute <= minute + minutesAheadMax) return known;
    const window: Window = { minute, permits: 0, taken: 0, waiting: 0, block: undefined };
    this.#windows.set(teamId, window);
    return window;
  }

  /** Reserves a permit for each waiting request, and at least a hundredth of the limit. */
  async #reserveBlock(teamId: TeamId, window: Window, limit: number): Promise<void> {
    const wanted = Math.max(1, Math.floor(limit * blockShare), window.waiting);
    const { minute } = window;
    const reserved = reservePermits(this.#services.database.hot, { teamId, minute, wanted });
    const row = await reserved.catch(throwNothingStored);
    // The clock of another process may have begun the next minute. The reserved permits then count in that minute.
    window.minute = row.minute;
    window.taken = row.taken;
    window.permits += Math.max(0, Math.min(wanted, limit - (row.taken - wanted)));
  }
}
