import type { Pool } from 'pg';
import { clockChannel } from './channels.ts';
import { runHooks } from './hooks.ts';
import { query, type Transaction, transactionQuery } from './query.ts';
import type { Runtime } from './runtime.ts';

/** State of the database's clock, which the processes of an installation share (table service_clock). */
export interface ClockState {
  /** The step that the service does not follow yet: the service's time minus the database's clock. */
  readonly held_ms: number;
  readonly stepped_at: Date | null;
  readonly followed_ms: number;
  readonly version: number;
}

/** The clock's state and the database's clock, read together. */
export interface ClockSample extends ClockState {
  readonly databaseMs: number;
  /** When the sample was taken, as a reading of `performance.now()`, and the maximum error of the sample. */
  readonly atMs: number;
  readonly uncertaintyMs: number;
}

/** The service's time, together with the machine's uptime. */
export interface BootClockReading {
  readonly boot_id: string;
  readonly uptime_ms: number;
  readonly monotonic_ms: number;
  readonly service_at: Date;
  readonly followed_ms: number;
}

/** Number of samples; the one with the shortest round trip has the smallest error. */
const samples = 5;

const stateColumns = 'held_ms, stepped_at, followed_ms, version';

// The only statement of the service that reads the database's clock (decision 0020).
const read = query<object, ClockState & { database_ms: number }>(
  'clock.read',
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms, ${stateColumns} FROM service_clock`,
).one;

/** Locks the clock's state, so that no other process changes it. */
export const lockClockState = transactionQuery<object, ClockState>(
  'clock.lock',
  `SELECT ${stateColumns} FROM service_clock FOR UPDATE`,
).one;

/**
 * Stores a step of the clock. A step of 0 ms means that no step is held any more. @returns false if another process has
 * changed the clock's state since the caller read `version`
 */
export const writeStep = query<{ heldMs: number; at: Date; version: number }>(
  'clock.write-step',
  `UPDATE service_clock SET held_ms = :heldMs, version = version + 1,
     stepped_at = CASE WHEN :heldMs::bigint <> 0 THEN :at::timestamptz END
   WHERE version = :version RETURNING version`,
).hasRow;

/** Records that the service's time has followed the held step. */
const markStepFollowed = transactionQuery(
  'clock.write-followed',
  `UPDATE service_clock
   SET followed_ms = followed_ms - held_ms, held_ms = 0, stepped_at = NULL, version = version + 1`,
).run;

export const listBootClockReadings = query<object, BootClockReading>(
  'clock.list-readings',
  'SELECT boot_id, uptime_ms, monotonic_ms, service_at, followed_ms FROM clock_readings',
).rows;
// Also deletes old readings, because readings of machines that no longer exist would stay for ever. The newest ones are
// kept: they show when the service last ran.
export const saveBootClockReading = query<BootClockReading>(
  'clock.write-reading',
  `WITH old AS (
     DELETE FROM clock_readings WHERE boot_id IN (SELECT boot_id FROM clock_readings ORDER BY service_at DESC OFFSET 100)
       AND boot_id <> :boot_id
   )
   INSERT INTO clock_readings AS r (boot_id, uptime_ms, monotonic_ms, service_at, followed_ms)
   VALUES (:boot_id, :uptime_ms, :monotonic_ms, :service_at, :followed_ms)
   ON CONFLICT (boot_id) DO UPDATE SET uptime_ms = excluded.uptime_ms, monotonic_ms = excluded.monotonic_ms,
     service_at = excluded.service_at, followed_ms = excluded.followed_ms`,
).run;

export async function sampleDatabaseClock(pool: Pool): Promise<ClockSample> {
  // Connects first: the wait for a connection must not be part of the round trip.
  const client = await pool.connect();
  try {
    const taken: ClockSample[] = [];
    while (taken.length < samples) {
      const askedAtMs = performance.now();
      // No transaction is needed, because the statement declares no change.
      const { database_ms: databaseMs, ...state } = await read(client as Transaction);
      const heardAtMs = performance.now();
      const uncertaintyMs = (heardAtMs - askedAtMs) / 2;
      taken.push({ ...state, databaseMs, atMs: (askedAtMs + heardAtMs) / 2, uncertaintyMs });
    }
    return taken.reduce((best, one) => (one.uncertaintyMs < best.uncertaintyMs ? one : best));
  } finally {
    client.release();
  }
}

/** Reads the service's time for a restore, during which no process of the service keeps that time. */
export async function readServiceTime(trx: Transaction): Promise<Date> {
  const { database_ms, held_ms } = await read(trx);
  return new Date(database_ms + held_ms);
}

/**
 * Follows a held clock step on all processes (decision 0020), once the database's clock was steady long enough or an
 * operator confirmed the step. A step ahead postpones running leases, so that none ends early.
 * @param version the version of the state that the decision is based on; undefined: any
 * @returns how far the service's time moves
 */
export async function followClockStep(services: Runtime, version?: number): Promise<number> {
  const { database, clock } = services;
  const byMs = await database.transaction(async (trx) => {
    const state = await lockClockState(trx);
    if (version !== undefined && state.version !== version) return 0;
    const step = { now: clock.now(), byMs: -state.held_ms };
    if (step.byMs > 0) await runHooks(trx, services, 'clockStepped', step);
    await markStepFollowed(trx);
    return -state.held_ms;
  });
  database.notify(clockChannel, []);
  return byMs;
}
