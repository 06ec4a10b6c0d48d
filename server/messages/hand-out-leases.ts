import { futureSlackMs } from '#server/database/limits.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { appendMessageEvents } from './message-event.ts';
import {
  failUnconfirmed,
  type InFlightRow,
  lockMessage,
  markQueuedForRetry,
  recordOutcome,
  removeInFlight,
  returnToQueue,
} from './message-store.ts';

/*
 * The leases of hand-outs: the end of a hand-out that no phone reported, and what a step of the clock changes. A message
 * is handed out in claim-message.ts.
 */

/**
 * Resolves an unconfirmed hand-out: one that was never reported (specification section 3.2). The message fails with
 * device_timeout. If the number's setting is retry_once, the message is queued again after its first hand-out instead.
 * @returns false if a report or another process was faster
 */
export async function resolveUnconfirmed(
  services: Runtime,
  flight: Pick<InFlightRow, 'team_id' | 'number_id' | 'message_id' | 'hand_out'>,
): Promise<boolean> {
  return services.database.transaction(async (trx) => {
    await lockCurrentSession(trx, { teamId: flight.team_id, numberId: flight.number_id });
    const ended = await removeInFlight(trx, flight);
    if (!ended) return false;
    await resolve(services, trx, ended);
    return true;
  });
}

async function resolve(services: Runtime, trx: Transaction, flight: InFlightRow): Promise<void> {
  const at = services.clock.now();
  const { team_id: teamId, number_id: numberId, message_id: messageId, hand_out: handOut } = flight;
  await recordOutcome(trx, { messageId, handOut, outcome: 'unconfirmed', at, isBelieved: true });
  const message = await lockMessage(trx, { teamId, messageId });
  if (!message) return;
  const number = await findNumber(trx, { teamId, numberId });
  if (number?.on_unconfirmed === 'retry_once' && number.deleted_at === null && handOut === 1) {
    const retried = await markQueuedForRetry(trx, message);
    if (retried) await returnToQueue(trx, retried, flight.seq);
    return;
  }
  const failed = await failUnconfirmed(trx, { ...message, at, deviceError: null });
  if (failed) await appendMessageEvents(trx, services, 'message.failed', [failed]);
}

/** How long a session lives after the full time of a long poll, or after its answer (specification section 11.2). */
const sessionSlackMs = 35_000;

/**
 * Postpones the ends of running hand-outs and sessions before the service's time steps ahead. It locks the sessions
 * first, in the order of numbers, because in-flight rows are written under their locks (docs/internals/locks.md).
 */
export const postponeHandOutLeases = transactionQuery<{ now: Date; byMs: number }>(
  'messages.postpone-hand-outs',
  `WITH locked AS MATERIALIZED (
     SELECT number_id FROM device_sessions
     WHERE expires_at > :now OR number_id IN (SELECT number_id FROM in_flight) ORDER BY number_id FOR UPDATE
   ), living AS (
     UPDATE device_sessions SET expires_at = expires_at + make_interval(secs => :byMs / 1000.0)
     WHERE number_id = ANY (ARRAY(SELECT number_id FROM locked)) AND expires_at > :now
   )
   UPDATE in_flight SET leased_until = leased_until + make_interval(secs => :byMs / 1000.0),
     handed_out_at = handed_out_at + make_interval(secs => :byMs / 1000.0)
   WHERE number_id = ANY (ARRAY(SELECT number_id FROM locked))`,
).run;
/** Ends the hand-outs of a restored database: the polls that they answered are gone. */
export const endHandOutLeases = transactionQuery<{ now: Date }>(
  'messages.end-hand-out-leases',
  'UPDATE in_flight SET leased_until = :now WHERE leased_until > :now',
).run;
const limitFutureTimes = query<{ now: Date; sessionEnd: Date; leaseEnd: Date; slack: string }>(
  'messages.limit-hand-out-times',
  `WITH locked AS MATERIALIZED (
     SELECT number_id FROM device_sessions
     WHERE expires_at > :sessionEnd::timestamptz + :slack OR last_seen_at > :now::timestamptz + :slack
       OR number_id IN (SELECT number_id FROM in_flight WHERE leased_until > :leaseEnd::timestamptz + :slack)
     ORDER BY number_id FOR UPDATE
   ), living AS (
     UPDATE device_sessions SET expires_at = least(expires_at, :sessionEnd), last_seen_at = least(last_seen_at, :now)
     WHERE number_id = ANY (ARRAY(SELECT number_id FROM locked))
   )
   UPDATE in_flight SET leased_until = least(leased_until, :leaseEnd), handed_out_at = least(handed_out_at, :now)
   WHERE number_id = ANY (ARRAY(SELECT number_id FROM locked))`,
);

/**
 * After a step back of the service's time: shortens hand-outs and sessions that would end later than ones that begin
 * now.
 */
export async function limitHandOutTimes({ database, clock, config }: Runtime): Promise<void> {
  await limitFutureTimes.run(database.pool, {
    now: clock.now(),
    sessionEnd: clock.in(2 * config.deviceHoldMs + sessionSlackMs),
    leaseEnd: clock.in(config.deviceLeaseMs),
    slack: `${futureSlackMs} milliseconds`,
  });
}
