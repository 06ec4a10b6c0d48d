import { testLine } from '#contract/test-line.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { simulatedPhoneLeaseMs } from './limits.ts';

/** The lease of a process on a simulated number, whose phone it runs. */
export interface SimulatedPhoneLease {
  readonly number_id: NumberId;
  readonly team_id: TeamId;
  /** A random id of the process. */
  readonly holder: string;
}

type OfHolder = Pick<SimulatedPhoneLease, 'holder'>;
type LeaseKey = Pick<SimulatedPhoneLease, 'number_id' | 'holder'>;

// SQL condition: no process has a live lease. A lease that ends too far ahead was written before the clock was set
// back, and no process renews it.
const isFree = (alias: string) =>
  `NOT (${alias}.leased_until > :now AND ${alias}.leased_until <= :now::timestamptz + interval '${2 * simulatedPhoneLeaseMs} ms')`;

/** Renews the leases of a process, except those that another process has claimed meanwhile. */
export const renewSimulatedPhones = query<OfHolder & { numberIds: readonly NumberId[]; leasedUntil: Date }>(
  'numbers.renew-simulated-phones',
  'UPDATE simulated_phones SET leased_until = :leasedUntil WHERE holder = :holder AND number_id = ANY(:numberIds::uuid[])',
).run;

// SQL condition: a number is a test line that has no message to send. No phone takes one that waits for its media.
const isIdle = (alias: string) => `(${alias}.phone_number = '${testLine}'
   AND NOT EXISTS (SELECT FROM send_queue q WHERE q.number_id = ${alias}.id AND q.is_ready AND NOT q.waits_for_media OFFSET 0)
   AND NOT EXISTS (SELECT FROM in_flight f WHERE f.number_id = ${alias}.id OFFSET 0))`;

/**
 * Claims simulated numbers without a live lease; at most `limit`. It also deletes the leases of deleted numbers, whose
 * processes were killed.
 */
export const claimSimulatedPhones = query<
  OfHolder & { now: Date; leasedUntil: Date; limit: number },
  SimulatedPhoneLease
>(
  'numbers.claim-simulated-phones',
  `WITH ended AS (
     DELETE FROM simulated_phones p USING numbers n
     WHERE n.team_id = p.team_id AND n.id = p.number_id AND n.deleted_at IS NOT NULL
   )
   INSERT INTO simulated_phones AS p (number_id, team_id, holder, leased_until)
   SELECT n.id, n.team_id, :holder, :leasedUntil FROM numbers n
   WHERE n.is_simulated AND n.deleted_at IS NULL
     AND NOT EXISTS (SELECT FROM simulated_phones l WHERE l.number_id = n.id AND NOT (${isFree('l')}))
   ORDER BY ${isIdle('n')}, n.team_id LIMIT :limit
   ON CONFLICT (number_id) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until WHERE ${isFree('p')}
   RETURNING p.number_id, p.team_id, p.holder`,
).rows;

/**
 * Lists test lines of a process without a message since `idleSince`, at most as many as other numbers wait for a phone.
 * Leases count as of `now`.
 */
export const listIdleTestLines = query<
  OfHolder & { now: Date; idleSince: Date },
  Pick<SimulatedPhoneLease, 'number_id'>
>(
  'numbers.list-idle-test-lines',
  `SELECT p.number_id FROM simulated_phones p
   JOIN numbers n ON n.team_id = p.team_id AND n.id = p.number_id
   LEFT JOIN device_sessions s ON s.number_id = p.number_id
   WHERE p.holder = :holder AND ${isIdle('n')} AND coalesce(s.handed_out_at < :idleSince, true)
   ORDER BY s.handed_out_at NULLS FIRST LIMIT (
     SELECT count(*) FROM numbers w
     WHERE w.is_simulated AND w.deleted_at IS NULL AND NOT ${isIdle('w')}
       AND NOT EXISTS (SELECT FROM simulated_phones l WHERE l.number_id = w.id AND NOT (${isFree('l')})))`,
).rows;

/** Ends a lease, so that another process may claim the number at once. */
export const releaseSimulatedPhone = query<LeaseKey>(
  'numbers.release-simulated-phone',
  'DELETE FROM simulated_phones WHERE number_id = :number_id AND holder = :holder',
).run;

/** Ends the leases on simulated numbers in a restored database, because their processes are gone. */
export const endSimulatedPhoneLeases = transactionQuery(
  'numbers.release-all-simulated-phones',
  'DELETE FROM simulated_phones',
).run;

/** True while the process has its lease on a simulated number. */
export const isLeaseLive = query<LeaseKey & { now: Date }>(
  'numbers.find-simulated-phone',
  'SELECT number_id FROM simulated_phones WHERE number_id = :number_id AND holder = :holder AND leased_until > :now',
).hasRow;
