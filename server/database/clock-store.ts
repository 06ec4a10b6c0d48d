import type { Pool } from 'pg';
import { type Queryable, statement, type Transaction, transactionStatement } from './statement.ts';

/** State of the database's clock, which the processes of an installation share (table service_clock). */
export interface ClockState {
  /** The step that the service does not follow: its own time minus the database's clock. */
  readonly held_ms: number;
  readonly stepped_at: Date | null;
  readonly followed_ms: number;
  readonly version: number;
}

/** The clock's state and the database's clock, read together. */
export interface ClockSample extends ClockState {
  readonly databaseMs: number;
  /** When the sample was taken, on `performance.now()`, and the maximum of its error. */
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

// The only statement of the service that reads the database's clock (decision 0007).
const read = transactionStatement<[], ClockState & { readonly database_ms: number }>(
  'clock.read',
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms, ${stateColumns} FROM service_clock`,
);
const lock = transactionStatement<[], ClockState>(
  'clock.lock',
  `SELECT ${stateColumns} FROM service_clock FOR UPDATE`,
);
const updateStep = statement<[number, Date | null, number]>(
  'clock.write-step',
  'UPDATE service_clock SET held_ms = $1, stepped_at = $2, version = version + 1 WHERE version = $3 RETURNING version',
);

/** Records that the service's time has followed the held step. */
export const markStepFollowed = transactionStatement(
  'clock.write-followed',
  `UPDATE service_clock
   SET followed_ms = followed_ms - held_ms, held_ms = 0, stepped_at = NULL, version = version + 1`,
).run;

export const listBootClockReadings = statement<[], BootClockReading>(
  'clock.list-readings',
  'SELECT boot_id, uptime_ms, monotonic_ms, service_at, followed_ms FROM clock_readings',
).rows;
// Deletes old readings, too: those of machines that no longer exist would stay for ever. The newest readings show when
// the service last ran.
const writeReading = statement<[string, number, number, Date, number]>(
  'clock.write-reading',
  `WITH old AS (
     DELETE FROM clock_readings WHERE boot_id IN (SELECT boot_id FROM clock_readings ORDER BY service_at DESC OFFSET 100)
       AND boot_id <> $1
   )
   INSERT INTO clock_readings AS r (boot_id, uptime_ms, monotonic_ms, service_at, followed_ms) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (boot_id) DO UPDATE SET uptime_ms = excluded.uptime_ms, monotonic_ms = excluded.monotonic_ms,
     service_at = excluded.service_at, followed_ms = excluded.followed_ms`,
);

/** Samples the database's clock as precisely as the round trip allows. */
export async function sampleDatabaseClock(pool: Pool): Promise<ClockSample> {
  // Connects first: the wait for a connection must not be part of the round trip.
  const client = await pool.connect();
  try {
    let best: ClockSample | undefined;
    for (let sample = 0; sample < samples; sample += 1) {
      const askedAtMs = performance.now();
      const { rows } = await client.query<ClockState & { readonly database_ms: number }>({
        name: read.name,
        text: read.text,
      });
      const heardAtMs = performance.now();
      const [row] = rows;
      if (!row) throw new Error('the row of service_clock, which the schema has from the start, was deleted');
      const uncertaintyMs = (heardAtMs - askedAtMs) / 2;
      if (best && best.uncertaintyMs <= uncertaintyMs) continue;
      const { database_ms: databaseMs, ...state } = row;
      best = { ...state, databaseMs, atMs: (askedAtMs + heardAtMs) / 2, uncertaintyMs };
    }
    if (!best) throw new Error('no reading of the database’s clock succeeded');
    return best;
  } finally {
    client.release();
  }
}

/** Reads the service's time for a restore, during which no process of the service keeps that time. */
export async function readServiceTime(trx: Transaction): Promise<Date> {
  const found = await read.row(trx);
  if (!found) throw new Error('the row of service_clock, which the schema has from the start, was deleted');
  return new Date(found.database_ms + found.held_ms);
}

/** Locks the clock's state, so that no other process changes it. */
export async function lockClockState(trx: Transaction): Promise<ClockState> {
  const state = await lock.row(trx);
  if (!state) throw new Error('the row of service_clock, which the schema has from the start, was deleted');
  return state;
}

/**
 * Stores a step of the clock. @returns false if another process has changed the clock's state since the caller read it
 */
export async function writeStep(
  db: Queryable,
  heldMs: number,
  steppedAt: Date,
  version: number,
): Promise<boolean> {
  return updateStep.hasRow(db, heldMs, heldMs === 0 ? null : steppedAt, version);
}

export async function saveBootClockReading(db: Queryable, reading: BootClockReading): Promise<void> {
  const { boot_id, uptime_ms, monotonic_ms, service_at, followed_ms } = reading;
  await writeReading.run(db, boot_id, uptime_ms, monotonic_ms, service_at, followed_ms);
}
