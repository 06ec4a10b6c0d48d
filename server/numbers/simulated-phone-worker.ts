import { randomUUID } from 'node:crypto';
import { testLine } from '#contract/test-line.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { renewSetupLink } from './connect-number.ts';
import {
  simulatedPhoneLeaseMs,
  simulatedPhonePauseMaxMs,
  simulatedPhonePauseMinMs,
  simulatedPhoneSweepMs,
  simulatedPhonesMax,
  testLineIdleMs,
} from './limits.ts';
import { lockNumber } from './number-store.ts';

/** The lease of a process on a simulated number, whose phone it runs. */
interface SimulatedPhoneLease {
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
const renewSimulatedPhones = query<OfHolder & { numberIds: readonly NumberId[]; leasedUntil: Date }>(
  'numbers.renew-simulated-phones',
  'UPDATE simulated_phones SET leased_until = :leasedUntil WHERE holder = :holder AND number_id = ANY(:numberIds::uuid[])',
).run;

// SQL condition: a number is a test line that has no message to send. A message that waits for its media does not
// count, because no phone takes it.
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
const isLeaseLive = query<LeaseKey & { now: Date }>(
  'numbers.find-simulated-phone',
  'SELECT number_id FROM simulated_phones WHERE number_id = :number_id AND holder = :holder AND leased_until > :now',
).hasRow;

/** Runs a phone over HTTP until it gets a stop or the signal aborts; rejects if it can't be connected. */
export type RunSimulatedPhone = (setupToken: string, signal: AbortSignal) => Promise<void>;

/**
 * Runs the phones of simulated numbers in this process (specification section 12.13, decision 0033). A lease per number
 * ensures that only one process runs it. A phone that ended is connected again with backoff, unless the number was
 * deleted or the service stops. A phone that ran longer than the longest pause resets the backoff. At the limit, phones of
 * idle test lines end if other numbers wait for one.
 * @param phonesMax phones that run at once
 */
export function createSimulatedPhoneWorker(
  services: Runtime,
  runPhone: RunSimulatedPhone,
  phonesMax = simulatedPhonesMax,
): QueueWorker<SimulatedPhoneLease> {
  const { database, clock, logger } = services;
  const { pool } = database;
  const holder = randomUUID();
  const running = new Map<NumberId, AbortController>();
  const keepRunning = async (lease: SimulatedPhoneLease, signal: AbortSignal): Promise<void> => {
    const line = { number: publicId('num', lease.number_id) };
    let pauseMs = simulatedPhonePauseMinMs;
    while (!signal.aborted) {
      const startedMs = clock.elapsedMs();
      try {
        const setupToken = await connectSimulatedPhone(services, lease);
        if (setupToken === undefined) return;
        logger.info(line, 'a simulated iPhone is connected');
        await runPhone(setupToken, signal);
      } catch (error) {
        logger.warn({ ...line, err: error }, 'a simulated iPhone failed; it is connected again');
      }
      if (clock.elapsedMs() - startedMs > simulatedPhonePauseMaxMs) pauseMs = simulatedPhonePauseMinMs;
      await waitFor(clock, pauseMs, signal);
      pauseMs = Math.min(2 * pauseMs, simulatedPhonePauseMaxMs);
    }
  };
  return new QueueWorker<SimulatedPhoneLease>({
    name: 'run simulated phones',
    clock,
    logger,
    sweepMs: simulatedPhoneSweepMs,
    // The queue worker sets no limit, because `claim` limits the number of phones. `claim` has to run even at the
    // limit: it also renews the leases.
    runningMax: Number.POSITIVE_INFINITY,
    stopMs: 0,
    claim: async (leases) => {
      const leasedUntil = clock.in(simulatedPhoneLeaseMs);
      const own = new Set(leases.map((lease) => lease.number_id));
      if (own.size > 0) await renewSimulatedPhones(pool, { holder, numberIds: [...own], leasedUntil });
      const limit = phonesMax - own.size;
      const now = clock.now();
      if (limit === 0) {
        const idleSince = clock.in(-testLineIdleMs, now);
        const idle = await listIdleTestLines(pool, { holder, now, idleSince });
        for (const { number_id } of idle) running.get(number_id)?.abort();
      }
      const claimed = await claimSimulatedPhones(pool, { holder, now, leasedUntil, limit });
      // Excludes a lease that ended while its phone was running, and that this process has claimed again.
      return claimed.filter((lease) => !own.has(lease.number_id));
    },
    run: async (lease, stopped) => {
      const ending = new AbortController();
      running.set(lease.number_id, ending);
      await keepRunning(lease, AbortSignal.any([stopped, ending.signal]));
      running.delete(lease.number_id);
      await releaseSimulatedPhone(pool, lease).catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of a simulated phone was not released; it ends by itself');
      });
    },
  });
}

/**
 * Creates a setup link for the phone of a simulated number, with the effects of a reconnect (specification section
 * 4.2). A simulated phone of another process works until the new phone's first poll. Only the creator of a link knows
 * its token, so each start of a phone needs a new link. The creation is not audited, because no person reconnected
 * anything.
 * @returns the link's token; undefined if the number is deleted or not simulated, or the lease has ended
 */
export async function connectSimulatedPhone(
  services: Runtime,
  lease: SimulatedPhoneLease,
): Promise<string | undefined> {
  const { database, clock } = services;
  return database.transaction(async (trx) => {
    const number = await lockNumber(trx, { teamId: lease.team_id, numberId: lease.number_id });
    if (!number?.is_simulated || number.deleted_at) return undefined;
    if (!(await isLeaseLive(trx, { ...lease, now: clock.now() }))) return undefined;
    const setupUrl = await renewSetupLink(trx, services, number);
    return setupUrl.slice(setupUrl.lastIndexOf('/') + 1);
  });
}

function waitFor(clock: Runtime['clock'], ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
