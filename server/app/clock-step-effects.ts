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

/*
 * Effects of a clock step that is followed, on the times that slices store (decision 0020). The server and the command
 * line use the same lists.
 */

/** Functions that postpone running leases over a step ahead. */
export const leasePostponers: readonly PostponeLeases[] = [
  postponeHandOutLeases,
  postponeDeliveryLeases,
  postponeMailLeases,
  postponeMediaLeases,
];

/** Two processes may be in two windows for a moment. */
const windowSlackMs = 10_000;

/**
 * Limits stored times that lie further ahead than any time written now. They were written before the service's time
 * stepped back, and would block for as long as the step.
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
