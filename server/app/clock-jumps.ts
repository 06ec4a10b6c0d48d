import { purgeWindowsAhead } from '#server/accounts/throttling/throttle-store.ts';
import type { PostponeLeases } from '#server/database/follow-clock-step.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { postponeMails, pullBackMails } from '#server/mail/move-mails.ts';
import { postponeHandOuts, pullBackHandOuts } from '#server/messages/move-hand-outs.ts';
import { postponeDeliveries, pullBackDeliveries } from '#server/webhooks/dispatch/move-deliveries.ts';

/*
 * What the slices keep of times to come, where the service's time jumps (decision 0020). The server and the command line
 * take the same lists.
 */

/** Leases that run are postponed by a step ahead. */
export const runningLeases: readonly PostponeLeases[] = [postponeHandOuts, postponeDeliveries, postponeMails];

/** Two processes may be in two windows for a moment. */
const windowSlackMs = 10_000;

/**
 * Brings back what lies further ahead than anything that is written now: it was written before the service's time stepped
 * back, and would block for as long as the step was.
 */
export async function pullBack(services: Pick<Runtime, 'database' | 'clock' | 'config'>): Promise<void> {
  await pullBackHandOuts(services);
  await pullBackDeliveries(services);
  await pullBackMails(services);
  await purgeWindowsAhead(services.database.pool, services.clock.in(windowSlackMs));
}
