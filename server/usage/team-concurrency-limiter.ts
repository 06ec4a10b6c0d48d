import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { LimitConcurrency } from '#server/platform/http/route.ts';
import { teamRequestsRunningMax, teamRequestsWaitingMax, teamRequestWaitMaxMs } from './limits.ts';

/**
 * Concurrency limiter: a semaphore per team in front of the work of its requests (specification section 8), so that no team takes all database
 * connections. Its keys and its members have a queue each, which alternate: a dashboard stays usable beside a busy
 * integration. What people ask for their own account is limited per account.
 */
export function createTeamConcurrencyLimiter({ clock }: Pick<Runtime, 'clock'>): LimitConcurrency {
  const semaphore = new KeyedSemaphore({
    clock,
    runningMax: teamRequestsRunningMax,
    waitingMax: teamRequestsWaitingMax,
    waitMaxMs: teamRequestWaitMaxMs,
    refuse: () =>
      unavailable(
        `Too many requests at once: ${teamRequestsRunningMax} run and ${teamRequestsWaitingMax} wait. Repeat the request in a moment, with fewer at a time.`,
      ),
  });
  return (caller, work) => {
    if (caller?.principal) return semaphore.run(caller.principal.teamId, caller.principal.actor.kind, work);
    if (caller?.signedIn) return semaphore.run(caller.signedIn.accountId, 'account', work);
    return work();
  };
}
