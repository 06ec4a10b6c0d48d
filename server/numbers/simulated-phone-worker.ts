import { randomUUID } from 'node:crypto';
import type { Runtime } from '#server/database/runtime.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { type NumberId, publicId } from '#server/platform/ids/ids.ts';
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
import {
  claimSimulatedPhones,
  isLeaseLive,
  listIdleTestLines,
  releaseSimulatedPhone,
  renewSimulatedPhones,
  type SimulatedPhoneLease,
} from './simulated-phone-store.ts';

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
