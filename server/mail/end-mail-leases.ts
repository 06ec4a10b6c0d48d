import { statement, type Transaction } from '#server/database/statement.ts';

const end = statement<Record<string, never>>(
  'mail.end-leases',
  'UPDATE mails SET leased_until = NULL WHERE body IS NOT NULL AND leased_until IS NOT NULL',
);

/** Ends the leases of mails in a restored database: the processes that held them are gone. */
export async function endMailLeases(trx: Transaction): Promise<void> {
  await end.row(trx);
}
