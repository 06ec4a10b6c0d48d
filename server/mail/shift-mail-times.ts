import { transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { mailLeaseMs } from './limits.ts';
import { attemptOffsetsMs } from './mail-schedule.ts';

/** Times that are too far ahead by less than this are kept: small corrections of the clock are no clock step. */
const slackMs = 10_000;

/**
 * Extends the leases of mails in an attempt before the service's time steps ahead, so that the leases do not end early.
 */
export const postponeMailLeases = transactionQuery<{ now: Date; byMs: number }>(
  'mail.postpone-leases',
  `UPDATE mails SET leased_until = leased_until + make_interval(secs => :byMs / 1000.0)
   WHERE body IS NOT NULL AND leased_until > :now`,
).run;
/** Upper bound on the mails that are read to find those with a lease, which come first in the order of due times. */
const leasedMax = 1_000;

// $2 holds, for each number of attempts, the delay until the next one in milliseconds. An untried mail is due at once.
const limitFutureTimes = statement<[Date, number[], Date, string]>(
  'mail.limit-times',
  `WITH found AS MATERIALIZED (
     SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at > $1
     UNION ALL
     (SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT ${leasedMax})
   ), far AS MATERIALIZED (
     SELECT id, $1::timestamptz + make_interval(secs => coalesce(($2::bigint[])[attempts], 0) / 1000.0) AS latest FROM mails
     WHERE id = ANY (ARRAY(SELECT id FROM found)) AND body IS NOT NULL FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET
     next_attempt_at = CASE WHEN m.next_attempt_at > f.latest + $4::interval THEN f.latest ELSE m.next_attempt_at END,
     leased_until = CASE WHEN m.leased_until > $3::timestamptz + $4::interval THEN $3 ELSE m.leased_until END
   FROM far f WHERE m.id = f.id
     AND (m.next_attempt_at > f.latest + $4::interval OR m.leased_until > $3::timestamptz + $4::interval)`,
);

/**
 * After a step back of the service's time, limits the times of next attempts and of leases to what the schedule allows
 * from now.
 */
export async function limitMailTimes({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  const gapsMs = attemptOffsetsMs
    .slice(1)
    .map((offsetMs, index) => offsetMs - (attemptOffsetsMs[index] ?? 0));
  await limitFutureTimes.run(
    database.pool,
    clock.now(),
    gapsMs,
    clock.in(mailLeaseMs),
    `${slackMs} milliseconds`,
  );
}
