import type { HookEvents } from '#server/database/hooks.ts';
import { futureSlackMs } from '#server/database/limits.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { leaseMarginMs } from '#server/webhooks/limits.ts';
import { sqlForEachLane, sqlWebhooksWithDue } from '#server/webhooks/queue/pending-deliveries.ts';

/** How many deliveries of each lane of a webhook one round changes; the next round continues. */
const limitedMax = 1_000;

// SQL of the deliveries with a lease that ends after `:after`. They are the first rows of their lane, because claims
// take the first rows.
const leased = sqlForEachLane(
  (lane, places) => `
     SELECT d.tid FROM walked w CROSS JOIN LATERAL (
       SELECT ctid AS tid, leased_until FROM due_deliveries
       WHERE webhook_id = w.webhook_id AND lane = '${lane}' AND due_at <= :now ORDER BY due_at, seq LIMIT ${places}
     ) d WHERE d.leased_until > :after`,
);
const lockLeased = `${sqlWebhooksWithDue}, leased AS MATERIALIZED (${leased}), locked AS MATERIALIZED (
     SELECT ctid AS tid FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM leased)) FOR UPDATE SKIP LOCKED
   )`;
const postpone = transactionQuery<{ now: Date; after: Date; byMs: number }>(
  'webhooks.postpone-leases',
  `WITH RECURSIVE ${lockLeased}
   UPDATE due_deliveries SET leased_until = leased_until + make_interval(secs => :byMs / 1000.0)
   WHERE ctid = ANY (ARRAY(SELECT tid FROM locked))`,
);
const limitLeases = query<{ now: Date; after: Date; until: Date }>(
  'webhooks.limit-leases',
  `WITH RECURSIVE ${lockLeased}
   UPDATE due_deliveries SET leased_until = :until WHERE ctid = ANY (ARRAY(SELECT tid FROM locked))`,
);
// `:gapsMs` has, for each attempt, the gap after the previous one in milliseconds. First, replayed and manual attempts
// have no gap, and are due at once.
const limitDueTimes = query<{ now: Date; gapsMs: number[]; slack: string }>(
  'webhooks.limit-due-times',
  `WITH RECURSIVE ${sqlWebhooksWithDue}, far AS MATERIALIZED (${sqlForEachLane(
    (lane) => `
     SELECT d.* FROM walked w CROSS JOIN LATERAL (
       SELECT ctid AS tid, :now::timestamptz + make_interval(secs => coalesce((:gapsMs::bigint[])[attempt], 0) / 1000.0) AS latest
       FROM due_deliveries WHERE webhook_id = w.webhook_id AND lane = '${lane}'
         AND due_at > :now::timestamptz + :slack::interval
         AND due_at > :now::timestamptz + make_interval(secs => coalesce((:gapsMs::bigint[])[attempt], 0) / 1000.0) + :slack::interval
       ORDER BY due_at, seq LIMIT ${limitedMax}
     ) d`,
  )}), locked AS MATERIALIZED (
     SELECT ctid AS tid FROM due_deliveries WHERE ctid = ANY (ARRAY(SELECT tid FROM far)) FOR UPDATE SKIP LOCKED
   )
   UPDATE due_deliveries d SET due_at = f.latest, first_started_at = least(d.first_started_at, :now)
   FROM far f WHERE d.ctid = f.tid AND d.ctid = ANY (ARRAY(SELECT tid FROM locked)) RETURNING d.webhook_id`,
);

/** Ends the leases of deliveries in a restored database: the processes that held them are gone. */
export const endDeliveryLeases = transactionQuery(
  'webhooks.end-leases',
  'UPDATE due_deliveries SET leased_until = NULL, lease = NULL WHERE lease IS NOT NULL',
).run;

/** Extends the leases of running attempts before the service's time steps ahead, so that none ends early. */
export function postponeDeliveryLeases(trx: Transaction, step: HookEvents['clockStepped']): Promise<void> {
  return postpone.run(trx, { ...step, after: step.now });
}

/** After a step back of the service's time, limits due times and leases to what the schedule allows from now. */
export async function limitDeliveryTimes({ database, clock, config }: Runtime): Promise<void> {
  const offsetsMs = config.webhookOffsetsMs;
  const gapsMs = offsetsMs.map((offsetMs, index) => offsetMs - (offsetsMs[index - 1] ?? 0));
  const slack = `${futureSlackMs} milliseconds`;
  const leaseMs = config.webhookTimeoutMs + leaseMarginMs;
  let limited: number;
  do limited = await limitDueTimes.count(database.pool, { now: clock.now(), gapsMs, slack });
  while (limited >= limitedMax);
  const [now, after, until] = [clock.now(), clock.in(leaseMs + futureSlackMs), clock.in(leaseMs)];
  await limitLeases.run(database.pool, { now, after, until });
}
