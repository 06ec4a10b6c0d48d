import { endAllAccess } from '#server/accounts/sign-in/end-access.ts';
import { purgeWindowsAhead } from '#server/accounts/throttling/throttle.ts';
import { futureSlackMs } from '#server/database/limits.ts';
import type { Transaction } from '#server/database/query.ts';
import { insertRestore, type Restore, resetClockState } from '#server/database/restore-hold.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { endDeviceSessions } from '#server/devices/device-store.ts';
import { recordLostEvents } from '#server/events/feed-store.ts';
import { endMailLeases, limitMailTimes } from '#server/mail/mail-store.ts';
import { endHandOutLeases, limitHandOutTimes } from '#server/messages/hand-out-leases.ts';
import { holdQueue } from '#server/messages/held-messages.ts';
import { endMediaLeases, limitMediaFetchTimes } from '#server/messages/media-fetch-store.ts';
import { endSimulatedPhoneLeases } from '#server/numbers/simulated-phone-worker.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { endDeliveryLeases, limitDeliveryTimes } from '#server/webhooks/dispatch/delivery-leases.ts';

/**
 * Moves stored times that lie too far ahead back to the latest time that could be written now. Such times were stored
 * before the service's time stepped back, and would delay work by the length of the step.
 */
export async function limitFutureTimes(services: Runtime): Promise<void> {
  await limitHandOutTimes(services);
  await limitDeliveryTimes(services);
  await limitMailTimes(services);
  await limitMediaFetchTimes(services);
  await purgeWindowsAhead(services.database.pool, { after: services.clock.in(futureSlackMs) });
}

/** Logs at start that a restore hold is on, and how to end it (specification section 10.8). */
export function logRestoreHold({ restoreHold, logger }: Runtime): void {
  const { restore } = restoreHold;
  if (!restore) return;
  logger.warn(
    { restored: restore.restored_at, backup: restore.backup_taken_at },
    `restored from the backup of ${restore.backup_taken_at.toISOString()}: messages, deliveries and mails that waited in it are held. ` +
      `To let them go, run \`${commandLine} restore --resume\`, or use the button in the dashboard.`,
  );
}

/**
 * Records a restore in the transaction that loads the backup (specification section 10.8). From its commit on, the
 * restore hold blocks everything outgoing until the restore is resumed. The transaction ends all leases of processes
 * and phones, so that handed-out messages become unconfirmed. It also ends all browser sessions. Phones continue with
 * their next poll. The feed tells its readers of a gap.
 */
export async function recordRestore(trx: Transaction, restore: Restore): Promise<void> {
  await insertRestore(trx, restore);
  await resetClockState(trx);
  await endDeviceSessions(trx, { now: restore.restored_at });
  await endHandOutLeases(trx, { now: restore.restored_at });
  await endMediaLeases(trx, { now: restore.restored_at });
  await holdQueue(trx, { hold: 'restore' });
  await endDeliveryLeases(trx);
  await endMailLeases(trx);
  await endSimulatedPhoneLeases(trx);
  await endAllAccess(trx);
  await recordLostEvents(trx);
}
