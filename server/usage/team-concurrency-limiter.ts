import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { LimitConcurrency, Principal } from '#server/platform/http/route.ts';
import {
  deviceCallWaitMaxMs,
  teamRequestsRunningMax,
  teamRequestsWaitingMax,
  teamRequestWaitMaxMs,
} from './limits.ts';

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
