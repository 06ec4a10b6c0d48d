import { futureSlackMs } from '#server/database/limits.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { mailLeaseMs } from './limits.ts';
import { attemptOffsetsMs } from './mail-schedule.ts';

/**
 * Extends the leases of mails in an attempt before the service's time steps ahead, so that the leases do not end early.
 */
export const postponeMailLeases = transactionQuery<{ now: Date; byMs: number }>(
  'mail.postpone-leases',
  `UPDATE mails SET leased_until = leased_until + make_interval(secs => :byMs / 1000.0)
   WHERE body IS NOT NULL AND leased_until > :now`,
).run;
/** Ends the leases of mails in a restored database: the processes that held them are gone. */
export const endMailLeases = transactionQuery(
  'mail.end-leases',
  'UPDATE mails SET leased_until = NULL WHERE body IS NOT NULL AND leased_until IS NOT NULL',
).run;
/** Upper bound on the mails that are read to find those with a lease, which come first in the order of due times. */
const leasedMax = 1_000;

// `:gapsMs` holds, for each number of attempts, the delay until the next one in milliseconds. An untried mail is due at once.
const limitFutureTimes = query<{ now: Date; gapsMs: number[]; leaseEnd: Date; slack: string }>(
  'mail.limit-times',
  `WITH found AS MATERIALIZED (
     SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at > :now
     UNION ALL
     (SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at <= :now ORDER BY next_attempt_at LIMIT ${leasedMax})
   ), far AS MATERIALIZED (
     SELECT id, :now::timestamptz + make_interval(secs => coalesce((:gapsMs::bigint[])[attempts], 0) / 1000.0) AS latest FROM mails
     WHERE id = ANY (ARRAY(SELECT id FROM found)) AND body IS NOT NULL FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET
     next_attempt_at = CASE WHEN m.next_attempt_at > f.latest + :slack::interval THEN f.latest ELSE m.next_attempt_at END,
     leased_until = CASE WHEN m.leased_until > :leaseEnd::timestamptz + :slack::interval THEN :leaseEnd ELSE m.leased_until END
   FROM far f WHERE m.id = f.id
     AND (m.next_attempt_at > f.latest + :slack::interval OR m.leased_until > :leaseEnd::timestamptz + :slack::interval)`,
);

/**
 * After a step back of the service's time, limits the times of next attempts and of leases to what the schedule allows
 * from now.
 */
export async function limitMailTimes({ database, clock }: Runtime): Promise<void> {
  const gapsMs = attemptOffsetsMs
    .slice(1)
    .map((offsetMs, index) => offsetMs - (attemptOffsetsMs[index] ?? 0));
  await limitFutureTimes.run(database.pool, {
    now: clock.now(),
    gapsMs,
    leaseEnd: clock.in(mailLeaseMs),
    slack: `${futureSlackMs} milliseconds`,
  });
}
