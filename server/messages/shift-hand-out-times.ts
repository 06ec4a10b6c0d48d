import type { Runtime } from '#server/database/runtime.ts';
import { statement, transactionStatement } from '#server/database/statement.ts';

/** A time that is at most this much too far ahead is kept, because the clocks of processes differ a little. */
const slackMs = 10_000;

/** A session lives this long after a hold or an answer (specification section 11.2). */
const sessionSlackMs = 35_000;

// Locks the sessions first, in the order of numbers, because in-flight rows are written under their locks
// (docs/architecture.md, lock order).
/** Postpones the ends of running hand-outs and sessions before the service's time steps ahead. */
export const postponeHandOutLeases = transactionStatement<[now: Date, byMs: number]>(
  'messages.postpone-hand-outs',
  `WITH held AS MATERIALIZED (
     SELECT number_id FROM device_sessions
     WHERE expires_at > $1 OR number_id IN (SELECT number_id FROM in_flight) ORDER BY number_id FOR UPDATE
   ), living AS (
     UPDATE device_sessions SET expires_at = expires_at + make_interval(secs => $2 / 1000.0)
     WHERE number_id = ANY (ARRAY(SELECT number_id FROM held)) AND expires_at > $1
   )
   UPDATE in_flight SET leased_until = leased_until + make_interval(secs => $2 / 1000.0),
     handed_out_at = handed_out_at + make_interval(secs => $2 / 1000.0)
   WHERE number_id = ANY (ARRAY(SELECT number_id FROM held))`,
).run;
const limitFutureTimes = statement<[Date, Date, Date, string]>(
  'messages.limit-hand-out-times',
  `WITH held AS MATERIALIZED (
     SELECT number_id FROM device_sessions
     WHERE expires_at > $2::timestamptz + $4 OR last_seen_at > $1::timestamptz + $4
       OR number_id IN (SELECT number_id FROM in_flight WHERE leased_until > $3::timestamptz + $4)
     ORDER BY number_id FOR UPDATE
   ), living AS (
     UPDATE device_sessions SET expires_at = least(expires_at, $2), last_seen_at = least(last_seen_at, $1)
     WHERE number_id = ANY (ARRAY(SELECT number_id FROM held))
   )
   UPDATE in_flight SET leased_until = least(leased_until, $3), handed_out_at = least(handed_out_at, $1)
   WHERE number_id = ANY (ARRAY(SELECT number_id FROM held))`,
);

/**
 * After a step back of the service's time: shortens hand-outs and sessions that would end later than ones that begin
 * now.
 */
export async function limitHandOutTimes({
  database,
  clock,
  config,
}: Pick<Runtime, 'database' | 'clock' | 'config'>): Promise<void> {
  await limitFutureTimes.run(
    database.pool,
    clock.now(),
    clock.in(2 * config.deviceHoldMs + sessionSlackMs),
    clock.in(config.deviceLeaseMs),
    `${slackMs} milliseconds`,
  );
}
