import { transactionQuery } from '#server/database/query.ts';
import type { Transaction } from '#server/database/statement.ts';

const endHandOuts = transactionQuery<{ now: Date }>(
  'messages.end-hand-out-leases',
  'UPDATE in_flight SET leased_until = :now WHERE leased_until > :now',
);
const endFetches = transactionQuery<{ now: Date }>(
  'messages.end-media-leases',
  'UPDATE media_fetches SET due_at = :now WHERE due_at > :now',
);

/** Ends the leases of hand-outs and media fetches in a restored database: their processes and polls are gone. */
export async function endMessageLeases(trx: Transaction, now: Date): Promise<void> {
  await endHandOuts.run(trx, { now });
  await endFetches.run(trx, { now });
}
