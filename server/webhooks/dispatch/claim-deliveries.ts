import type { EventType } from '#contract/event.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { readStoredEnvelope } from '#server/events/stored-envelope.ts';
import type { DeliveryId, EventId, MessageId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { SealedSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';
import { type Lane, oneAtATimeFailuresMin, teamSlots, walkedWebhooksMax } from '#server/webhooks/limits.ts';
import { sqlForEachLane, sqlWebhooksWithDue } from '#server/webhooks/queue/due-webhooks.ts';

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
  /** The body to send; null where the event is no longer stored. */
  readonly body: string | null;
}

/** Result of one statement: deliveries claimed from the webhooks that it walked. */
export interface ClaimedPage {
  readonly deliveries: readonly ClaimedDelivery[];
  /** The last webhook that this statement examined; undefined at the end of the walk over all webhooks. */
  readonly walkedTo: WebhookId | undefined;
  /** The due time of the next attempt of these webhooks; undefined if more attempts may be due now. */
  readonly nextDueAt: Date | undefined;
}

interface ClaimLimits {
  readonly now: Date;
  readonly leasedUntil: Date;
  /** Free slots of this process. */
  readonly free: number;
  /** The number of deliveries in flight in this process, by team. */
  readonly inFlight: ReadonlyMap<TeamId, number>;
  readonly after: WebhookId;
}

// CTEs of the statement:
// - waiting: the first rows of each lane, as many as it has slots. Leased rows are in flight in some process, the
// others can be claimed. So the slots of a webhook apply to all processes together, and the cost depends on the slots,
// not on the backlog. A team without a free slot in this process costs nothing, even if all its receivers hang.
// - slow: from the third failure on, a webhook gets one attempt at a time. A claim locks its row and updates
// last_triggered_at, so that a concurrent claim sees that it read a stale row.
// - chosen: interleaves deliveries by slot_share, a row's slot as a part of its lane's slots. In a lane, every
// webhook's first delivery precedes any second one, and a lane with many slots precedes one with few.
// - walk: the claim commits without waiting for the disk. If a power cut loses the commit, the rows have no lease, and
// their attempts are made again, like those of a dead process.
//
// Rows are found by ctid, which cannot change under this statement's snapshot. Rows that another process claimed
// meanwhile are read again under the lock, and skipped.
const claim = statement<
  [Date, Date, number, WebhookId, TeamId[], number[], TeamId[]],
  { readonly walked_to: WebhookId | null; readonly next_due_at: Date | null } & (
    | (ClaimedDelivery & { readonly message_id: MessageId | null })
    | { readonly webhook_id: null }
  )
>(
  'webhooks.claim-deliveries',
  `WITH RECURSIVE ${sqlWebhooksWithDue('webhook_id > $4')}, page AS MATERIALIZED (
     SELECT webhook_id FROM walked WHERE webhook_id IS NOT NULL LIMIT ${walkedWebhooksMax}
   ), hooks AS MATERIALIZED (
     SELECT w.* FROM page p CROSS JOIN LATERAL (
       SELECT id, is_active, failure_count >= ${oneAtATimeFailuresMin} AS is_slow, last_triggered_at
       FROM webhooks WHERE id = p.webhook_id AND team_id <> ALL ($7::uuid[]) OFFSET 0
     ) w
   ), waiting AS MATERIALIZED (${sqlForEachLane(
     (lane, slots) => `
     SELECT h.id AS webhook_id, h.is_slow, '${lane}'::text AS lane, ${slots} AS slots, d.*
     FROM hooks h CROSS JOIN LATERAL (
       SELECT ctid AS tid, team_id, due_at, seq, coalesce(leased_until > $1, false) AS is_leased
       FROM due_deliveries WHERE webhook_id = h.id AND lane = '${lane}' AND due_at <= $1
       ORDER BY due_at, seq LIMIT ${slots}
     ) d
     WHERE h.is_active OR ${lane === 'manual'}`,
   )}
   ), slow AS MATERIALIZED (
     SELECT w.id FROM hooks h JOIN webhooks w ON w.id = h.id
     WHERE h.is_slow AND h.is_active AND w.is_active AND w.last_triggered_at IS NOT DISTINCT FROM h.last_triggered_at
       AND EXISTS (SELECT FROM waiting x WHERE x.webhook_id = h.id AND x.lane <> 'manual')
       AND NOT EXISTS (SELECT FROM waiting x WHERE x.webhook_id = h.id AND x.lane <> 'manual' AND x.is_leased)
     FOR NO KEY UPDATE OF w SKIP LOCKED
   ), free AS (
     SELECT x.*,
       row_number() OVER (PARTITION BY webhook_id, lane ORDER BY due_at, seq)::real / slots AS slot_share,
       row_number() OVER (PARTITION BY webhook_id, lane = 'manual' ORDER BY due_at, seq) AS slot
     FROM waiting x
     WHERE NOT is_leased AND (lane = 'manual' OR NOT is_slow OR webhook_id IN (SELECT id FROM slow))
   ), of_teams AS (
     SELECT f.*, row_number() OVER (PARTITION BY f.team_id ORDER BY slot_share, due_at, seq) + coalesce(t.in_flight, 0) AS team_slot
     FROM free f LEFT JOIN unnest($5::uuid[], $6::int[]) AS t (team_id, in_flight) ON t.team_id = f.team_id
     WHERE lane = 'manual' OR NOT is_slow OR slot = 1
   ), chosen AS MATERIALIZED (
     SELECT tid FROM of_teams WHERE team_slot <= ${teamSlots} ORDER BY slot_share, due_at, seq LIMIT $3
   ), locked AS MATERIALIZED (
     SELECT ctid AS tid FROM due_deliveries
     WHERE ctid = ANY (ARRAY(SELECT tid FROM chosen)) AND (leased_until IS NULL OR leased_until <= $1)
     FOR UPDATE SKIP LOCKED
   ), taken AS (
     UPDATE due_deliveries d
     SET leased_until = $2, lease = nextval('lease_seq'), first_started_at = coalesce(d.first_started_at, $1)
     WHERE d.ctid = ANY (ARRAY(SELECT tid FROM locked))
     RETURNING d.*
   ), slowed AS (
     UPDATE webhooks SET last_triggered_at = $1
     WHERE id = ANY (ARRAY(SELECT t.webhook_id FROM taken t JOIN slow s ON s.id = t.webhook_id WHERE t.lane <> 'manual'))
   )
   SELECT walk.*, t.webhook_id, t.delivery_id, t.team_id, t.event_id, t.lane, t.attempt, t.due_at, t.first_started_at,
     t.lease, t.leased_until, w.url, w.generation, w.failure_count, w.secret, w.next_secret, w.next_secret_from, t.body IS NOT NULL AS is_test,
     coalesce(t.body, e.body) AS body, coalesce(sample.event_type, e.type) AS event_type, e.message_id
   FROM (SELECT
       set_config('synchronous_commit', 'off', true),
       (SELECT webhook_id FROM page OFFSET ${walkedWebhooksMax - 1}) AS walked_to,
       CASE WHEN (SELECT count(*) FROM locked) < $3 THEN (SELECT min(due_at) FROM (${sqlForEachLane(
         (lane) => `
          SELECT d.due_at FROM hooks h CROSS JOIN LATERAL (
            SELECT due_at FROM due_deliveries WHERE webhook_id = h.id AND lane = '${lane}' AND due_at > $1
            ORDER BY due_at LIMIT 1
          ) d WHERE h.is_active`,
       )}) AS next) END AS next_due_at
     ) walk
   LEFT JOIN (
     taken t
     CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE id = t.webhook_id OFFSET 0) w
     LEFT JOIN LATERAL (SELECT type, message_id, body FROM events WHERE team_id = t.team_id AND id = t.event_id OFFSET 0) e ON true
     LEFT JOIN LATERAL (
       SELECT event_type FROM deliveries WHERE t.body IS NOT NULL AND team_id = t.team_id AND id = t.delivery_id OFFSET 0
     ) sample ON true
   ) ON true`,
);

/** The start of a walk: smaller than every id. */
export const firstWebhookId = '00000000-0000-0000-0000-000000000000' as WebhookId;

/**
 * Claims due deliveries fairly, and commits (decision 0017). A webhook's lane gets at most its slots over all
 * processes, and a team at most its slots in this process. A disabled webhook gets manual attempts only.
 */
export async function claimDeliveries(db: Queryable, limits: ClaimLimits): Promise<ClaimedPage> {
  const { now, leasedUntil, free, inFlight, after } = limits;
  const full = [...inFlight].flatMap(([teamId, slots]) => (slots >= teamSlots ? [teamId] : []));
  const teams = [...inFlight.keys()];
  const rows = await claim.rows(db, now, leasedUntil, free, after, teams, [...inFlight.values()], full);
  const deliveries = rows.flatMap((row) =>
    row.webhook_id === null ? [] : [row.is_test ? row : { ...row, body: envelopeOf(row) }],
  );
  const [first] = rows;
  return {
    deliveries,
    walkedTo: first?.walked_to ?? undefined,
    nextDueAt: first?.next_due_at ?? undefined,
  };
}

function envelopeOf({
  team_id,
  event_id: id,
  event_type: type,
  message_id,
  body,
}: ClaimedDelivery & { readonly message_id: MessageId | null }): string | null {
  return body === null ? null : readStoredEnvelope({ team_id, id, type, message_id }, body);
}
