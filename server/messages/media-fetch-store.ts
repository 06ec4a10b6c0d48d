import { futureSlackMs } from '#server/database/limits.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import {
  mediaFetchesMax,
  mediaFetchesPerOriginMax,
  mediaFetchesPerTeamMax,
  mediaFetchesPerTeamWithReserveMax,
  mediaFetchesWithOriginReserveMax,
  mediaFetchesWithReserveMax,
  mediaLeaseMarginMs,
  mediaOldestExaminedMax,
  mediaOriginsExaminedMax,
  mediaTeamsExaminedMax,
} from './limits.ts';

/** A media fetch that this process has claimed. Each claim raises `tries`, which identifies it. */
export interface ClaimedFetch {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
  readonly url: string;
  readonly origin: string;
  /** Number of claims so far, the current one included. */
  readonly tries: number;
  /** Number of tries that ended in a failure. */
  readonly failed_tries: number;
}

/**
 * Claims due fetches with a lease, which is a future due_at. Each team has slots, and each origin may use some of its
 * team's slots. So a host that hangs delays neither other hosts nor other teams. Slots are shared out round robin. Some
 * slots are reserved for the first fetch of a team, and for its first fetch from an origin.
 *
 * `teamIds` and `origins` are those of the fetches that this process runs. Steps 2 and 3 jump along the index from team
 * to team and from origin to origin, so long queues cost nothing. Both steps have a limit, so the oldest due fetches are
 * examined, too.
 */
export const claimMediaFetches = query<
  { now: Date; leasedUntil: Date; teamIds: TeamId[]; origins: string[] },
  ClaimedFetch
>(
  'messages.claim-media-fetches',
  `WITH RECURSIVE running AS MATERIALIZED (
     -- 1. The fetches that this process runs.
     SELECT * FROM unnest(:teamIds::uuid[], :origins::text[]) AS r (team_id, origin)
   ), team AS (
     -- 2. Find the teams with fetches.
     (SELECT team_id, 1 AS n FROM media_fetches ORDER BY team_id LIMIT 1)
     UNION ALL
     SELECT f.team_id, t.n + 1 FROM team t CROSS JOIN LATERAL (
       SELECT team_id FROM media_fetches WHERE team_id > t.team_id ORDER BY team_id LIMIT 1) f
     WHERE t.n < ${mediaTeamsExaminedMax}
   ), lane AS (
     -- 3. Find their origins, and those of the oldest due fetches.
     SELECT t.team_id, o.origin FROM team t CROSS JOIN LATERAL (
       WITH RECURSIVE o AS (
         (SELECT origin, 1 AS n FROM media_fetches WHERE team_id = t.team_id ORDER BY origin LIMIT 1)
         UNION ALL
         SELECT f.origin, o.n + 1 FROM o CROSS JOIN LATERAL (
           SELECT origin FROM media_fetches WHERE team_id = t.team_id AND origin > o.origin ORDER BY origin LIMIT 1) f
         WHERE o.n < ${mediaOriginsExaminedMax}
       ) SELECT origin FROM o) o
     UNION
     (SELECT team_id, origin FROM media_fetches WHERE due_at <= :now ORDER BY due_at LIMIT ${mediaOldestExaminedMax})
   ), of_lane AS (
     -- 4. Number the due fetches of each origin: the slot that each would take.
     SELECT l.team_id, d.message_id, d.due_at, row_number() OVER (PARTITION BY l.team_id, l.origin ORDER BY d.due_at)
       + (SELECT count(*) FROM running r WHERE r.team_id = l.team_id AND r.origin = l.origin) AS slot
     FROM lane l CROSS JOIN LATERAL (
       SELECT message_id, due_at FROM media_fetches
       WHERE team_id = l.team_id AND origin = l.origin AND due_at <= :now
       ORDER BY due_at LIMIT ${mediaFetchesPerOriginMax}) d
   ), of_team AS (
     -- 5. Number those within their origin's limit per team.
     SELECT o.team_id, o.message_id, o.due_at, o.slot AS lane_slot,
       row_number() OVER (PARTITION BY o.team_id ORDER BY o.slot, o.due_at)
       + (SELECT count(*) FROM running r WHERE r.team_id = o.team_id) AS slot
     FROM of_lane o WHERE o.slot <= ${mediaFetchesPerOriginMax}
   ), of_process AS (
     -- 6. Number those within their team's limit in the process.
     SELECT o.team_id, o.message_id, o.lane_slot, o.slot AS team_slot,
       row_number() OVER (ORDER BY o.slot > 1, o.lane_slot > 1, o.slot, o.due_at) + (SELECT count(*) FROM running) AS slot
     FROM of_team o
     WHERE o.slot <= CASE o.lane_slot WHEN 1 THEN ${mediaFetchesPerTeamWithReserveMax} ELSE ${mediaFetchesPerTeamMax} END
   ), chosen AS MATERIALIZED (
     -- 7. Choose those within the limit of the process.
     SELECT team_id, message_id FROM of_process
     WHERE slot <= CASE WHEN team_slot = 1 THEN ${mediaFetchesWithReserveMax}
       WHEN lane_slot = 1 THEN ${mediaFetchesWithOriginReserveMax} ELSE ${mediaFetchesMax} END
   ), locked AS MATERIALIZED (
     -- 8. Lock them; another process may have claimed some.
     SELECT f.team_id, f.message_id FROM chosen c JOIN media_fetches f USING (team_id, message_id)
     WHERE f.due_at <= :now FOR UPDATE OF f SKIP LOCKED
   )
   UPDATE media_fetches f SET tries = f.tries + 1, due_at = :leasedUntil
   FROM locked l WHERE f.team_id = l.team_id AND f.message_id = l.message_id
   RETURNING f.team_id, f.message_id, f.url, f.origin, f.tries, f.failed_tries`,
).rows;

type FetchKey = Pick<ClaimedFetch, 'team_id' | 'message_id' | 'tries'>;
const sqlOfFetch = 'team_id = :team_id AND message_id = :message_id AND tries = :tries';

/**
 * Lets a fetch be claimed again at `dueAt`. Its try counts as a failed one, or not at all.
 * @returns false if another process has claimed the fetch meanwhile
 */
export const postponeMediaFetch = transactionQuery<FetchKey & { dueAt: Date; isCounted: boolean }>(
  'messages.retry-media-fetch',
  `UPDATE media_fetches SET due_at = :dueAt, tries = tries - (NOT :isCounted::boolean)::int,
     failed_tries = failed_tries + :isCounted::boolean::int WHERE ${sqlOfFetch}`,
).hasRow;

/** True if the fetch still exists and no other process has claimed it. */
export const isFetchCurrent = query<FetchKey>(
  'messages.current-media-fetch',
  `SELECT tries FROM media_fetches WHERE ${sqlOfFetch}`,
).hasRow;

/** Like `isFetchCurrent`, with a lock: no other process can claim the fetch before the transaction ends. */
export const lockCurrentFetch = transactionQuery<FetchKey>(
  'messages.lock-media-fetch',
  `SELECT tries FROM media_fetches WHERE ${sqlOfFetch} FOR UPDATE`,
).hasRow;

/** Removes a fetch that has ended. @returns false if another process has claimed the fetch meanwhile */
export const removeMediaFetch = transactionQuery<FetchKey>(
  'messages.remove-media-fetch',
  `DELETE FROM media_fetches WHERE ${sqlOfFetch}`,
).hasRow;

/** Deletes the fetches of messages that left the queue. */
export const removeMediaFetches = transactionQuery<{ teamId: TeamId; messageIds: readonly MessageId[] }>(
  'messages.remove-media-fetches',
  'DELETE FROM media_fetches WHERE team_id = :teamId AND message_id = ANY(:messageIds::uuid[])',
).run;

/** Allows the hand-out of a message whose media are stored. @returns undefined if the message no longer waits */
export const endWaitForMedia = transactionQuery<
  Pick<ClaimedFetch, 'team_id' | 'message_id'>,
  { number_id: NumberId }
>(
  'messages.end-wait-for-media',
  `UPDATE send_queue SET waits_for_media = false WHERE team_id = :team_id AND message_id = :message_id AND waits_for_media
   RETURNING number_id`,
  { changes: 'message', team: ':team_id', ids: ':message_id' },
).row;

/** The pauses between the tries of a fetch (specification section 3.2). */
const pausesMs = [10_000, 60_000] as const;

/**
 * Upper bound on the claims of a fetch whose process died before it wrote an outcome. Then the message fails, so that a
 * file that kills the process is not fetched for ever.
 */
export const mediaLostClaimsMax = 20;

const mediaRetryPauseMaxMs = Math.max(...pausesMs);

/** Returns the pause before the next try; undefined after the last one. @param tries tries so far */
export function mediaRetryPauseMs(tries: number): number | undefined {
  return pausesMs[tries - 1];
}

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
