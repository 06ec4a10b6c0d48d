import { purgeWindowsAhead } from '#server/accounts/throttling/throttle-store.ts';
import type { PostponeLeases } from '#server/database/follow-clock-step.ts';
import { futureSlackMs } from '#server/database/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { limitMailTimes, postponeMailLeases } from '#server/mail/mail-leases.ts';
import { limitHandOutTimes, postponeHandOutLeases } from '#server/messages/hand-out-leases.ts';
import { limitMediaFetchTimes, postponeMediaLeases } from '#server/messages/media-fetch-store.ts';
import { limitDeliveryTimes, postponeDeliveryLeases } from '#server/webhooks/dispatch/delivery-leases.ts';

/* Effects of a followed clock step on stored times (decision 0020), the same for the server and the command line. */

/** Functions that extend running leases before the service's time steps ahead. */
export const leasePostponers: readonly PostponeLeases[] = [
  postponeHandOutLeases,
  postponeDeliveryLeases,
  postponeMailLeases,
  postponeMediaLeases,
];

/**
 * Moves stored times that lie too far ahead back to the latest time that could be written now. They are from before the
 * service's time stepped back, and would delay work by the length of the step.
 */
export async function limitFutureTimes(services: Runtime): Promise<void> {
  await limitHandOutTimes(services);
  await limitDeliveryTimes(services);
  await limitMailTimes(services);
  await limitMediaFetchTimes(services);
  await purgeWindowsAhead(services.database.pool, { after: services.clock.in(futureSlackMs) });
}
