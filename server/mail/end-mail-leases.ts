import { transactionStatement } from '#server/database/statement.ts';

/** Ends the leases of mails in a restored database: the processes that held them are gone. */
export const endMailLeases = transactionStatement(
  'mail.end-leases',
  'UPDATE mails SET leased_until = NULL WHERE body IS NOT NULL AND leased_until IS NOT NULL',
).run;
