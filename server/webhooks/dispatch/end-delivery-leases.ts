import { transactionQuery } from '#server/database/query.ts';

/** Ends the leases of deliveries in a restored database: the processes that held them are gone. */
export const endDeliveryLeases = transactionQuery(
  'webhooks.end-leases',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE lease IS NOT NULL',
).run;
