import { statement, type Transaction } from '#server/database/statement.ts';

const end = statement<Record<string, never>>(
  'webhooks.end-leases',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE lease IS NOT NULL',
);

/** Ends the leases of deliveries in a restored database: the processes that held them are gone. */
export async function endDeliveryLeases(trx: Transaction): Promise<void> {
  await end.row(trx);
}
