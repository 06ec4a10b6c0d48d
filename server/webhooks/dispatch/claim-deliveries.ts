import type { EventType } from '#contract/event.ts';
import { type Queryable, query } from '#server/database/query.ts';
import { envelopeOf } from '#server/events/append-events.ts';
import type { DeliveryId, EventId, TeamId, WebhookId } from '#server/platform/ids.ts';
import type { SealedSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';
import { type Lane, lanes, oneAtATimeFailuresMin, teamSlots } from '#server/webhooks/limits.ts';
import { sqlDeliveryGuard, sqlStatusAfter } from '#server/webhooks/queue/delivery-status.ts';
import { sqlForEachLane } from '#server/webhooks/queue/pending-deliveries.ts';

/** A delivery that this process has claimed with a lease, with all data for its attempt. */
export interface ClaimedDelivery extends SealedSecrets {
  readonly webhook_id: WebhookId;
  readonly delivery_id: DeliveryId;
  readonly team_id: TeamId;
  readonly event_id: EventId;
  readonly lane: Lane;
  readonly attempt: number;
  readonly due_at: Date;
  readonly first_started_at: Date;
  readonly lease: number;
  readonly leased_until: Date;
  readonly url: string;
  readonly generation: number;
  readonly failure_count: number;
  readonly event_type: EventType;
  readonly is_test: boolean;
  /** The body to send; null if the event is no longer stored. */
  readonly body: string | null;
}

const sqlDueColumns = (
  due: string,
) => `${due}.webhook_id, ${due}.delivery_id, ${due}.team_id, ${due}.event_id, ${due}.lane, ${due}.attempt, ${due}.due_at,
     ${due}.first_started_at, ${due}.lease, ${due}.leased_until`;

/** The columns of a claimed delivery, from its row in the queue and from `w`, its webhook. */
const sqlClaimedColumns = (due: string) =>
  `${sqlDueColumns(due)}, w.url, w.generation, w.failure_count, w.secret, w.next_secret, w.next_secret_from`;

/** The queue of a webhook as a claim saw it: the due time of each lane's first row. */
export interface SeenWebhook extends Readonly<Record<Lane, number>> {
  readonly id: WebhookId;
  /** Whether the webhook may have deliveries that are due at or after its marks. */
  readonly waits: boolean;
}

/** Result of one claim: its deliveries, and the queues of its webhooks. */
export interface ClaimedPage {
  readonly deliveries: readonly ClaimedDelivery[];
  /** For each webhook that exists, the first due time of each lane at or after the lane's mark, in milliseconds. */
  readonly seen: readonly SeenWebhook[];
  /** The due time of the next attempt of these webhooks; undefined if more attempts may be due now. */
  readonly nextDueAt: Date | undefined;
}

/** A webhook that a claim examines, with the due time in milliseconds from which the claim reads each lane. */
export type ExaminedWebhook = Readonly<Record<Lane, number>> & { readonly id: WebhookId };

interface ClaimLimits {
  readonly now: Date;
  readonly leasedUntil: Date;
  /** Free slots of this process. */
  readonly free: number;
  /** The number of deliveries in flight in this process, by team. */
  readonly inFlight: ReadonlyMap<TeamId, number>;
  readonly webhooks: readonly ExaminedWebhook[];
}

/** The columns of a delivery's event; null if retention deleted it. A test delivery has no event. */
interface EventColumns {
  readonly sequence: number;
  readonly event_created_at: Date;
  readonly data: string | null;
}

/**
 * A claimed delivery and the queues that the claim saw. A claim without deliveries gives one row with the queues only.
 */
type ClaimRow = { readonly seen: readonly SeenWebhook[] | null; readonly next_due_at: Date | null } & (
  | (ClaimedDelivery & EventColumns)
  | { readonly webhook_id: null }
);

/** SQL for each lane, in a list. */
const sqlLanes = (sql: (lane: Lane) => string) => lanes.map(sql).join(', ');

/**
 * Examines webhooks, and claims a fair choice of their due rows.
 *
 * Example: three slots are free. The queue has four due rows of webhook A: a1, a2, a3 in the live lane (128
 * slots), a4 in retry (32 slots). Webhook B failed three times in a row, and has b1 in live and, later, b2 in retry.
 *   1 to 3: A and B are examined; B is slow.    4: all six rows are due, and none is leased.
 *   5: B has no attempt in progress, so its row is locked.
 *   6: shares of the slots: a1 and b1 1/128, a2 2/128, a3 3/128, a4 and b2 1/32.
 *   7: b2 is dropped, because B gets one attempt at a time.    8: a1, b1 and a2 have the smallest shares.
 *   9 to 11: the three rows get a lease, and B its time.
 *   12: what was seen of A and B.    13: three rows; next_due_at is null because more rows may be due now.
 */
const claim = query<
  Pick<ClaimLimits, 'now' | 'leasedUntil' | 'free'> & {
    readonly webhookIds: WebhookId[];
    readonly teamIds: TeamId[];
    readonly inFlight: number[];
    readonly fullTeamIds: TeamId[];
  } & Readonly<Record<`${Lane}Marks`, number[]>>,
  ClaimRow
>(
  'webhooks.claim-deliveries',
  `WITH page AS MATERIALIZED (
     -- 1. The webhooks to examine, with the mark of each lane: all older rows of the lane are dead.
     SELECT * FROM unnest(:webhookIds::uuid[], ${sqlLanes((lane) => `:${lane}Marks::float8[]`)})
       AS p (webhook_id, ${sqlLanes((lane) => lane)})
   ), known AS MATERIALIZED (
     -- 2. Read the state of each webhook. From its third failure in a row on, it is slow, and gets one attempt at a time.
     SELECT w.*, ${sqlLanes((lane) => `to_timestamp(p.${lane} / 1000) AS ${lane}`)}
     FROM page p CROSS JOIN LATERAL (
       SELECT id, is_active, failure_count >= ${oneAtATimeFailuresMin} AS is_slow, last_triggered_at,
         team_id = ANY (:fullTeamIds::uuid[]) AS is_full
       FROM webhooks WHERE id = p.webhook_id OFFSET 0
     ) w
   ), webhooks_with_slot AS MATERIALIZED (
     -- 3. A team without a free slot in this process is skipped here, so it costs nothing, even if all its receivers
     -- hang.
     SELECT * FROM known WHERE NOT is_full
   ), due AS MATERIALIZED (
     -- 4. Read the first due rows of each lane, as many as it has slots. Leased rows are in flight in some process,
     -- the others can be claimed. So the slots of a webhook apply to all processes together, and the cost depends on the
     -- slots, not on the backlog, nor on dead rows before the mark. A row keeps its ctid under this statement's snapshot.${sqlForEachLane(
       (lane, slots) => `
     SELECT h.id AS webhook_id, h.is_slow, '${lane}'::text AS lane, ${slots} AS slots, d.*
     FROM webhooks_with_slot h CROSS JOIN LATERAL (
       SELECT ctid AS tid, team_id, due_at, seq, coalesce(leased_until > :now, false) AS is_leased
       FROM due_deliveries WHERE webhook_id = h.id AND lane = '${lane}' AND due_at >= h.${lane} AND due_at <= :now
       ORDER BY due_at, seq LIMIT ${slots}
     ) d
     WHERE h.is_active OR ${lane === 'manual'}`,
     )}
   ), slow AS MATERIALIZED (
     -- 5. Lock the slow webhooks without an attempt in progress. A claim in another process updates last_triggered_at
     -- (step 11): if it differs from step 3, the rows of step 4 are stale.
     SELECT w.id FROM webhooks_with_slot h JOIN webhooks w ON w.id = h.id
     WHERE h.is_slow AND h.is_active AND w.is_active AND w.last_triggered_at IS NOT DISTINCT FROM h.last_triggered_at
       AND EXISTS (SELECT FROM due x WHERE x.webhook_id = h.id AND x.lane <> 'manual')
       AND NOT EXISTS (SELECT FROM due x WHERE x.webhook_id = h.id AND x.lane <> 'manual' AND x.is_leased)
     FOR NO KEY UPDATE OF w SKIP LOCKED
   ), free AS (
     -- 6. Drop leased rows, and rows of slow webhooks that step 5 did not lock. slot_share is a row's number in its lane
     -- as a part of the lane's slots. slot is its number among the webhook's manual rows, or among its other rows.
     SELECT x.*,
       row_number() OVER (PARTITION BY webhook_id, lane ORDER BY due_at, seq)::real / slots AS slot_share,
       row_number() OVER (PARTITION BY webhook_id, lane = 'manual' ORDER BY due_at, seq) AS slot
     FROM due x
     WHERE NOT is_leased AND (lane = 'manual' OR NOT is_slow OR webhook_id IN (SELECT id FROM slow))
   ), ranked AS (
     -- 7. Drop all but the first row of a slow webhook. Number the rest within their team, after its deliveries in
     -- flight in this process.
     SELECT f.*, row_number() OVER (PARTITION BY f.team_id ORDER BY slot_share, due_at, seq) + coalesce(t.in_flight, 0) AS team_slot
     FROM free f LEFT JOIN unnest(:teamIds::uuid[], :inFlight::int[]) AS t (team_id, in_flight) ON t.team_id = f.team_id
     WHERE lane = 'manual' OR NOT is_slow OR slot = 1
   ), chosen AS MATERIALIZED (
     -- 8. Choose rows for the free slots, and for a team at most its slots. The order by slot_share interleaves
     -- webhooks and lanes: in a lane every webhook's first row precedes any second one, and a lane with many slots
     -- precedes one with few.
     SELECT tid FROM ranked WHERE team_slot <= ${teamSlots} ORDER BY slot_share, due_at, seq LIMIT :free
   ), locked AS MATERIALIZED (
     -- 9. Lock them. A row that another claim took meanwhile is read again under the lock, and skipped.
     SELECT ctid AS tid FROM due_deliveries
     WHERE ctid = ANY (ARRAY(SELECT tid FROM chosen)) AND (leased_until IS NULL OR leased_until <= :now)
     FOR UPDATE SKIP LOCKED
   ), leased AS (
     -- 10. Lease them.
     UPDATE due_deliveries d
     SET leased_until = :leasedUntil, lease = nextval('lease_seq'), first_started_at = coalesce(d.first_started_at, :now)
     WHERE d.ctid = ANY (ARRAY(SELECT tid FROM locked))
     RETURNING ${sqlDueColumns('d')}, d.body
   ), slow_triggered AS (
     -- 11. Update last_triggered_at of slow webhooks, which step 5 of a concurrent claim compares.
     UPDATE webhooks SET last_triggered_at = :now
     WHERE id = ANY (ARRAY(SELECT l.webhook_id FROM leased l JOIN slow s ON s.id = l.webhook_id WHERE l.lane <> 'manual'))
   ), next AS MATERIALIZED (
     -- 12. If fewer rows were claimed than slots are free, read when the next attempt of each webhook is due. Then
     -- record for each webhook whether it waits, and the first due row of each lane, or now for a lane without one.
     SELECT id, min(due_at) AS due_at FROM (${sqlForEachLane(
       (lane) => `
       SELECT h.id, d.due_at FROM webhooks_with_slot h CROSS JOIN LATERAL (
         SELECT due_at FROM due_deliveries WHERE webhook_id = h.id AND lane = '${lane}' AND due_at > :now
         ORDER BY due_at LIMIT 1
       ) d WHERE h.is_active AND (SELECT count(*) FROM locked) < :free`,
     )}) AS each_lane GROUP BY id
   ), seen AS (
     SELECT k.id, k.is_full OR count(d.tid) > 0 OR k.id IN (SELECT id FROM next) AS waits,
       ${sqlLanes(
         (lane) => `floor(extract(epoch FROM coalesce(min(d.due_at) FILTER (WHERE d.lane = '${lane}'),
         CASE WHEN k.is_full OR NOT (k.is_active OR ${lane === 'manual'}) THEN k.${lane} ELSE :now END)) * 1000)::float8 AS ${lane}`,
       )}
     FROM known k LEFT JOIN due d ON d.webhook_id = k.id GROUP BY k.id, k.is_full, k.is_active, ${sqlLanes((lane) => `k.${lane}`)}
   )
   -- 13. Return the claimed rows with the data for their attempts, each with the result of step 12. LEFT JOIN ... ON true
   -- returns this result even if nothing was claimed.
   SELECT page_seen.*, ${sqlClaimedColumns('l')}, l.body, l.body IS NOT NULL AS is_test,
     coalesce(sample.event_type, e.type) AS event_type, e.sequence, e.created_at AS event_created_at, e.data
   FROM (SELECT
       -- The commit does not wait for the disk. If a power cut loses it, the rows have no lease, and their attempts are
       -- made again, like those of a dead process.
       set_config('synchronous_commit', 'off', true),
       (SELECT json_agg(seen) FROM seen) AS seen,
       (SELECT min(due_at) FROM next) AS next_due_at
     ) page_seen
   LEFT JOIN (
     leased l
     CROSS JOIN LATERAL (
       SELECT url, generation, failure_count, secret, next_secret, next_secret_from FROM webhooks WHERE id = l.webhook_id OFFSET 0
     ) w
     LEFT JOIN LATERAL (SELECT type, sequence, created_at, data FROM events WHERE team_id = l.team_id AND id = l.event_id OFFSET 0) e ON true
     LEFT JOIN LATERAL (
       SELECT event_type FROM deliveries WHERE l.body IS NOT NULL AND team_id = l.team_id AND id = l.delivery_id OFFSET 0
     ) sample ON true
   ) ON true`,
);

/**
 * Claims due deliveries of webhooks fairly, and commits (decision 0017). A webhook's lane gets at most its slots over all
 * processes, and a team at most its slots in this process. A disabled webhook gets manual attempts only.
 */
export async function claimDeliveries(db: Queryable, limits: ClaimLimits): Promise<ClaimedPage> {
  const { now, leasedUntil, free, inFlight, webhooks } = limits;
  const marks = (lane: Lane) => webhooks.map((webhook) => webhook[lane]);
  const rows = await claim.rows(db, {
    now,
    leasedUntil,
    free,
    webhookIds: webhooks.map(({ id }) => id),
    teamIds: [...inFlight.keys()],
    inFlight: [...inFlight.values()],
    fullTeamIds: [...inFlight].flatMap(([teamId, slots]) => (slots >= teamSlots ? [teamId] : [])),
    liveMarks: marks('live'),
    retryMarks: marks('retry'),
    replayMarks: marks('replay'),
    manualMarks: marks('manual'),
  });
  const deliveries = rows.flatMap((row) =>
    row.webhook_id === null ? [] : [{ ...row, body: row.body ?? envelopeOfClaimed(row) }],
  );
  const [first] = rows;
  const mayHaveMore = deliveries.length >= free;
  return {
    deliveries,
    seen: (first?.seen ?? []).map((seen) => ({ ...seen, waits: seen.waits || mayHaveMore })),
    nextDueAt: first?.next_due_at ?? undefined,
  };
}

function envelopeOfClaimed(row: ClaimedDelivery & EventColumns): string | null {
  const { team_id, event_id: id, event_type: type, sequence, event_created_at: created_at, data } = row;
  return data === null ? null : envelopeOf({ team_id, id, type, sequence, created_at, data });
}

/** A delivery in the queue, and the lease of its claim. */
interface Leased {
  readonly webhookId: WebhookId;
  readonly deliveryId: DeliveryId;
  readonly lease: number;
}

/** Releases the lease of a claimed delivery before its attempt begins: any process may claim the delivery at once. */
export const releaseDelivery = query<Leased>(
  'webhooks.release-delivery',
  `UPDATE due_deliveries SET leased_until = NULL, lease = NULL
   WHERE webhook_id = :webhookId AND delivery_id = :deliveryId AND lease = :lease`,
).run;

/** Skips a claimed delivery whose event is no longer stored. A finished delivery keeps its status. */
export const skipDelivery = query<Leased & { at: Date }, { team_id: TeamId; id: DeliveryId }>(
  'webhooks.skip-delivery',
  `WITH gone AS (
     DELETE FROM due_deliveries WHERE webhook_id = :webhookId AND delivery_id = :deliveryId AND lease = :lease
     RETURNING team_id, delivery_id
   )
   UPDATE deliveries d SET status = ${sqlStatusAfter('skip', 'd')}, finished_at = :at
   FROM gone g WHERE d.team_id = g.team_id AND d.id = g.delivery_id AND ${sqlDeliveryGuard('skip', 'd')}
   RETURNING d.team_id, d.id`,
  { changes: 'delivery', team: 'team_id', ids: 'id' },
).run;
