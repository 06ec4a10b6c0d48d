import { futureSlackMs } from '#server/database/limits.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { mediaLeaseMarginMs } from './limits.ts';
import { mediaRetryPauseMaxMs } from './media-fetch-schedule.ts';

/** Postpones the leases of running fetches before the service's time steps ahead. */
export const postponeMediaLeases = transactionQuery<{ now: Date; byMs: number }>(
  'messages.postpone-media-leases',
  'UPDATE media_fetches SET due_at = due_at + make_interval(secs => :byMs / 1000.0) WHERE due_at > :now',
).run;
/** Ends the leases of fetches in a restored database: the processes that held them are gone. */
export const endMediaLeases = transactionQuery<{ now: Date }>(
  'messages.end-media-leases',
  'UPDATE media_fetches SET due_at = :now WHERE due_at > :now',
).run;
const limitFutureTimes = query<{ latest: Date }>(
  'messages.limit-media-fetch-times',
  `WITH far AS MATERIALIZED (
     SELECT team_id, message_id FROM media_fetches WHERE due_at > :latest FOR UPDATE SKIP LOCKED
   )
   UPDATE media_fetches f SET due_at = :latest FROM far WHERE f.team_id = far.team_id AND f.message_id = far.message_id`,
);

/** After a step back of the service's time: the next try of each fetch begins within the longest pause from now. */
export async function limitMediaFetchTimes({ database, clock, config }: Runtime): Promise<void> {
  const aheadMs = Math.max(config.mediaTimeoutMs + mediaLeaseMarginMs, mediaRetryPauseMaxMs);
  await limitFutureTimes.run(database.pool, { latest: clock.in(aheadMs + futureSlackMs) });
}
