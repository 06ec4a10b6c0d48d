import { statement, type Transaction } from '#server/database/statement.ts';

const endHandOuts = statement<Record<string, never>>(
  'messages.end-hand-out-leases',
  'UPDATE in_flight SET leased_until = $1 WHERE leased_until > $1',
);
const endFetches = statement<Record<string, never>>(
  'messages.end-media-leases',
  'UPDATE media_fetches SET due_at = $1 WHERE due_at > $1',
);

/** Ends the leases of hand-outs and media fetches in a restored database: their processes and polls are gone. */
export async function endMessageLeases(trx: Transaction, now: Date): Promise<void> {
  await endHandOuts.row(trx, now);
  await endFetches.row(trx, now);
}
