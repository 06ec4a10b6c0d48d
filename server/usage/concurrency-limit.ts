import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { LimitConcurrency } from '#server/platform/http/route.ts';

/** Requests of one team that run at once in this process: half of the connections for pages (database.ts). */
export const runningMax = 3;

/** Requests of a team that may wait, by keys and by members each. */
export const waitingMax = 1_000;

/** As long as a statement may take, and shorter than most clients wait. */
export const waitMaxMs = 10_000;

/**
 * Semaphore per team in front of the work of its requests (specification section 8), so that no team takes all database
 * connections. Its keys and its members have a queue each, which alternate: a dashboard stays usable beside a busy
 * integration. What people ask for their own account is limited per account.
 */
export function createConcurrencyLimit({ clock }: Pick<Runtime, 'clock'>): LimitConcurrency {
  const semaphore = new KeyedSemaphore({
    clock,
    runningMax,
    waitingMax,
    waitMaxMs,
    refuse: () =>
      unavailable(
        `Too many requests at once: ${runningMax} run and ${waitingMax} wait. Repeat the request in a moment, with fewer at a time.`,
      ),
  });
  return (caller, work) => {
    if (caller?.principal) return semaphore.run(caller.principal.teamId, caller.principal.actor.kind, work);
    if (caller?.signedIn) return semaphore.run(caller.signedIn.accountId, 'account', work);
    return work();
  };
}
