import { dueDeliveriesChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';

/** How many deliveries of an event one statement writes, in about 20 ms. */
const batchMax = 500;

/** Upper bound on the rounds of one run; the next run continues. */
const roundsMax = 1_000;

/** SQL for the id of an event's delivery to the webhook with this index (derived from the event's id). */
export function sqlDeliveryId(eventId: string, index: string): string {
  return `overlay(${eventId}::text PLACING lpad(to_hex(${index}), 8, '0') FROM 29)::uuid`;
}

/** SQL condition: the id may belong to a delivery of the event. These ids are one range of the primary key. */
export function sqlDeliveryIdRange(id: string, eventId: string): string {
  const bound = (index: string) => `overlay(${eventId}::text PLACING '${index}' FROM 29)::uuid`;
  return `${id} BETWEEN ${bound('00000000')} AND ${bound('ffffffff')}`;
}

const listTeams = statement<[], { readonly team_id: TeamId }>(
  'events.teams-with-fan-outs',
  'SELECT DISTINCT team_id FROM fan_outs',
);
// The lock reads the newest version of the row, so `done` includes a batch that another process wrote meanwhile. A
// deleted webhook gets no delivery, and a disabled webhook gets a skipped delivery. Deliveries are due when they are written:
// the time of their event may lie below the mark from which claims read.
const writePart = statement<[TeamId, Date], { readonly team_id: TeamId; readonly due: WebhookId[] | null }>(
  'events.write-fan-out',
  `WITH oldest AS MATERIALIZED (
     SELECT * FROM fan_outs WHERE team_id = $1 ORDER BY event_id LIMIT 1 FOR UPDATE SKIP LOCKED
   ), batch AS MATERIALIZED (
     SELECT o.team_id, o.event_id, o.event_type, o.created_at, w.id AS webhook_id, p.is_active AND w.is_active AS is_active,
       ${sqlDeliveryId('o.event_id', 'o.done + p.n')} AS delivery_id, p.n
     FROM oldest o
     CROSS JOIN LATERAL unnest(o.webhook_ids[o.done + 1:o.done + ${batchMax}], o.are_active[o.done + 1:o.done + ${batchMax}])
       WITH ORDINALITY AS p (webhook_id, is_active, n)
     CROSS JOIN LATERAL (SELECT id, is_active FROM webhooks WHERE team_id = o.team_id AND id = p.webhook_id OFFSET 0) w
   ), delivered AS (
     INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at)
     SELECT team_id, delivery_id, webhook_id, event_id, event_type, CASE WHEN is_active THEN 'pending' ELSE 'skipped' END,
       created_at, CASE WHEN NOT is_active THEN $2::timestamptz END
     FROM batch
   ), due AS (
     INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
     SELECT webhook_id, delivery_id, team_id, event_id, greatest(created_at, $2) FROM batch WHERE is_active ORDER BY n
   ), advanced AS (
     UPDATE fan_outs f SET done = f.done + ${batchMax} FROM oldest o
     WHERE f.team_id = o.team_id AND f.event_id = o.event_id AND o.done + ${batchMax} < cardinality(o.webhook_ids)
   ), ended AS (
     DELETE FROM fan_outs f USING oldest o
     WHERE f.team_id = o.team_id AND f.event_id = o.event_id AND o.done + ${batchMax} >= cardinality(o.webhook_ids)
   )
   SELECT o.team_id, (SELECT array_agg(webhook_id) FROM batch WHERE is_active) AS due FROM oldest o`,
  { changes: 'delivery', team: 'team_id' },
);

const hasOf = statement<[string], { readonly found: boolean }>(
  'events.has-fan-outs-of',
  'SELECT EXISTS (SELECT FROM fan_outs WHERE event_id < $1) AS found',
);

/** True if an event with a smaller id still has deliveries to be written. */
export async function hasFanOutsBefore(db: Queryable, eventId: string): Promise<boolean> {
  return (await hasOf.row(db, eventId))?.found === true;
}

/**
 * Fan-out: writes the deliveries of events for many webhooks (decision 0023). In each round every team gets one batch
 * of its oldest event, so that no team waits for another. A team whose batch fails waits for the next run. Several
 * processes may run this at once. The next run repeats a batch that the end of a process interrupted.
 */
export async function writeFanOutDeliveries(
  { database, clock, logger }: Pick<Runtime, 'database' | 'clock' | 'logger'>,
  rounds = roundsMax,
): Promise<void> {
  const failed = new Set<TeamId>();
  for (let round = 0; round < rounds; round += 1) {
    const teams = await listTeams.rows(database.pool);
    if (teams.length === 0) return;
    let written = 0;
    for (const { team_id: teamId } of teams) {
      if (failed.has(teamId)) continue;
      try {
        const batch = await writePart.row(database.pool, teamId, clock.now());
        if (batch) written += 1;
        if (batch?.due) database.notify(dueDeliveriesChannel, batch.due);
      } catch (error) {
        failed.add(teamId);
        logger.error(
          { err: error, team: publicId('team', teamId) },
          'writing the deliveries of an event failed; the server retries',
        );
      }
    }
    // Nothing was written: other processes have locked the remaining teams, or their batches failed in this run.
    if (written === 0) return;
  }
}
