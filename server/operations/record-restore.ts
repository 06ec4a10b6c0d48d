import { endAllAccess } from '#server/accounts/sign-in/end-all-access.ts';
import { insertRestore, type Restore, resetClockState } from '#server/database/restore-hold.ts';
import type { Transaction } from '#server/database/statement.ts';
import { endDeviceSessions } from '#server/devices/device-store.ts';
import { recordLostEvents } from '#server/events/feed-store.ts';
import { endMailLeases } from '#server/mail/mail-leases.ts';
import { endHandOutLeases } from '#server/messages/hand-out-leases.ts';
import { holdQueue } from '#server/messages/held-messages.ts';
import { endMediaLeases } from '#server/messages/media-fetch-store.ts';
import { endSimulatedPhoneLeases } from '#server/numbers/simulated-phone-store.ts';
import { endDeliveryLeases } from '#server/webhooks/dispatch/delivery-leases.ts';

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
