import { purgeWindowsAhead } from '#server/accounts/throttling/throttle-store.ts';
import type { PostponeLeases } from '#server/database/follow-clock-step.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { limitMailTimes, postponeMailLeases } from '#server/mail/shift-mail-times.ts';
import { limitHandOutTimes, postponeHandOutLeases } from '#server/messages/shift-hand-out-times.ts';
import { limitMediaFetchTimes, postponeMediaLeases } from '#server/messages/shift-media-fetch-times.ts';
import {
  limitDeliveryTimes,
  postponeDeliveryLeases,
} from '#server/webhooks/dispatch/shift-delivery-times.ts';

/* Effects of a followed clock step on stored times (decision 0020), the same for the server and the command line. */

/** Functions that extend running leases before the service's time steps ahead. */
export const leasePostponers: readonly PostponeLeases[] = [
  postponeHandOutLeases,
  postponeDeliveryLeases,
  postponeMailLeases,
  postponeMediaLeases,
];

/** Slack for throttle windows: the clocks of two processes may differ for a moment. */
const windowSlackMs = 10_000;

/**
 * Moves stored times that lie too far ahead back to the latest time that could be written now. They are from before the
 * service's time stepped back, and would delay work by the length of the step.
 */
export async function limitFutureTimes(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
): Promise<void> {
  await limitHandOutTimes(services);
  await limitDeliveryTimes(services);
  await limitMailTimes(services);
  await limitMediaFetchTimes(services);
  await purgeWindowsAhead(services.database.pool, services.clock.in(windowSlackMs));
}
