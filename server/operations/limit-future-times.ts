import { purgeWindowsAhead } from '#server/accounts/throttling/throttle-store.ts';
import { futureSlackMs } from '#server/database/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { limitMailTimes } from '#server/mail/mail-leases.ts';
import { limitHandOutTimes } from '#server/messages/hand-out-leases.ts';
import { limitMediaFetchTimes } from '#server/messages/media-fetch-store.ts';
import { limitDeliveryTimes } from '#server/webhooks/dispatch/delivery-leases.ts';

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
