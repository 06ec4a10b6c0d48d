import { transactionStatement } from '#server/database/statement.ts';

/** Ends the leases of deliveries in a restored database: the processes that held them are gone. */
export const endDeliveryLeases = transactionStatement(
  'webhooks.end-leases',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE lease IS NOT NULL',
).run;
