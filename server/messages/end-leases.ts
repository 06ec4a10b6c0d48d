import { type Transaction, transactionStatement } from '#server/database/statement.ts';

const endHandOuts = transactionStatement<[Date]>(
  'messages.end-hand-out-leases',
  'UPDATE in_flight SET leased_until = $1 WHERE leased_until > $1',
);
const endFetches = transactionStatement<[Date]>(
  'messages.end-media-leases',
  'UPDATE media_fetches SET due_at = $1 WHERE due_at > $1',
);

/** Ends the leases of hand-outs and media fetches in a restored database: their processes and polls are gone. */
export async function endMessageLeases(trx: Transaction, now: Date): Promise<void> {
  await endHandOuts.run(trx, now);
  await endFetches.run(trx, now);
}
