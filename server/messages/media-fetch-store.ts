import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import {
  mediaFetchesMax,
  mediaFetchesPerOriginMax,
  mediaFetchesPerTeamMax,
  mediaFetchesPerTeamWithReserveMax,
  mediaFetchesWithOriginReserveMax,
  mediaFetchesWithReserveMax,
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
 * Steps 2 and 3 jump along the index from team to team and from origin to origin, so long queues cost nothing. Both
 * steps have a limit, so the oldest due fetches are examined, too.
 */
const claim = statement<[Date, Date, TeamId[], string[]], ClaimedFetch>(
  'messages.claim-media-fetches',
  `WITH RECURSIVE running AS MATERIALIZED (
     -- 1. The fetches that this process runs.
     SELECT * FROM unnest($3::uuid[], $4::text[]) AS r (team_id, origin)
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
     (SELECT team_id, origin FROM media_fetches WHERE due_at <= $1 ORDER BY due_at LIMIT ${mediaOldestExaminedMax})
   ), of_lane AS (
     -- 4. Number the due fetches of each origin: the slot that each would take.
     SELECT l.team_id, d.message_id, d.due_at, row_number() OVER (PARTITION BY l.team_id, l.origin ORDER BY d.due_at)
       + (SELECT count(*) FROM running r WHERE r.team_id = l.team_id AND r.origin = l.origin) AS slot
     FROM lane l CROSS JOIN LATERAL (
       SELECT message_id, due_at FROM media_fetches
       WHERE team_id = l.team_id AND origin = l.origin AND due_at <= $1
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
     WHERE f.due_at <= $1 FOR UPDATE OF f SKIP LOCKED
   )
   UPDATE media_fetches f SET tries = f.tries + 1, due_at = $2
   FROM locked l WHERE f.team_id = l.team_id AND f.message_id = l.message_id
   RETURNING f.team_id, f.message_id, f.url, f.origin, f.tries, f.failed_tries`,
);
const retry = transactionStatement<[TeamId, MessageId, number, Date, number, number]>(
  'messages.retry-media-fetch',
  `UPDATE media_fetches SET due_at = $4, tries = $5, failed_tries = $6 WHERE team_id = $1 AND message_id = $2 AND tries = $3
   RETURNING tries`,
);
const isCurrent = statement<[TeamId, MessageId, number]>(
  'messages.current-media-fetch',
  'SELECT tries FROM media_fetches WHERE team_id = $1 AND message_id = $2 AND tries = $3',
);
const lockCurrent = transactionStatement<[TeamId, MessageId, number]>(
  'messages.lock-media-fetch',
  'SELECT tries FROM media_fetches WHERE team_id = $1 AND message_id = $2 AND tries = $3 FOR UPDATE',
);
const removeOne = transactionStatement<[TeamId, MessageId, number]>(
  'messages.remove-media-fetch',
  'DELETE FROM media_fetches WHERE team_id = $1 AND message_id = $2 AND tries = $3 RETURNING tries',
);

/** Deletes the fetches of messages that left the queue. */
export const removeMediaFetches = transactionStatement<[teamId: TeamId, messageIds: readonly MessageId[]]>(
  'messages.remove-media-fetches',
  'DELETE FROM media_fetches WHERE team_id = $1 AND message_id = ANY($2::uuid[])',
).run;
const release = transactionStatement<[TeamId, MessageId], { number_id: NumberId }>(
  'messages.end-wait-for-media',
  `UPDATE send_queue SET waits_for_media = false WHERE team_id = $1 AND message_id = $2 AND waits_for_media
   RETURNING number_id`,
  { changes: 'message', team: '$1', ids: '$2' },
);

/** @param running the fetches that this process runs */
export function claimMediaFetches(
  db: Queryable,
  now: Date,
  leasedUntil: Date,
  running: readonly ClaimedFetch[],
): Promise<ClaimedFetch[]> {
  const teams = running.map((fetch) => fetch.team_id);
  const origins = running.map((fetch) => fetch.origin);
  return claim.rows(db, now, leasedUntil, teams, origins);
}

/** Lets a fetch be claimed again at `dueAt`. @returns false if another process has claimed the fetch meanwhile */
export async function postponeMediaFetch(
  trx: Transaction,
  fetch: ClaimedFetch,
  dueAt: Date,
  { isCounted }: { readonly isCounted: boolean },
): Promise<boolean> {
  const { team_id, message_id, tries, failed_tries } = fetch;
  const [claims, failed] = isCounted ? [tries, failed_tries + 1] : [tries - 1, failed_tries];
  return retry.hasRow(trx, team_id, message_id, tries, dueAt, claims, failed);
}

/** True if the fetch still exists and no other process has claimed it. */
export async function isFetchCurrent(db: Queryable, fetch: ClaimedFetch): Promise<boolean> {
  return isCurrent.hasRow(db, fetch.team_id, fetch.message_id, fetch.tries);
}

/** Like `isFetchCurrent`, with a lock: no other process can claim the fetch before the transaction ends. */
export async function lockCurrentFetch(trx: Transaction, fetch: ClaimedFetch): Promise<boolean> {
  return lockCurrent.hasRow(trx, fetch.team_id, fetch.message_id, fetch.tries);
}

/**
 * Allows the hand-out of a message whose media are stored.
 * @returns the message's number; undefined if the message no longer waits
 */
export async function endWaitForMedia(trx: Transaction, fetch: ClaimedFetch): Promise<NumberId | undefined> {
  return (await release.row(trx, fetch.team_id, fetch.message_id))?.number_id;
}

/** Removes a fetch that has ended. @returns false if another process has claimed the fetch meanwhile */
export async function removeMediaFetch(trx: Transaction, fetch: ClaimedFetch): Promise<boolean> {
  return removeOne.hasRow(trx, fetch.team_id, fetch.message_id, fetch.tries);
}
