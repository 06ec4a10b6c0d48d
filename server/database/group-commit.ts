import { setTimeout as pause } from 'node:timers/promises';
import { Counter, Histogram } from 'prom-client';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { isDatabaseAway, isLocked, isTimeout } from './database.ts';
import type { Runtime } from './runtime.ts';
import { NoConnectionError } from './seek-connection.ts';

/** Another transaction has locked or changed the row: the row is tried again, until its deadline. */
export const again = Symbol('again');
/** The batch of the row failed, so the row needs a transaction of its own. */
const alone = Symbol('alone');

/** The error of a row whose outcome may be unknown. Such a row is not tried again. */
class RowFailure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

interface GroupCommitOptions<Row, Outcome> {
  /** The label of the batches in the metrics. */
  readonly name: string;
  readonly services: Pick<Runtime, 'metrics' | 'database'>;
  /**
   * Runs a batch in one transaction that never waits for a row lock: a locked row results in `again`. It returns one
   * result per row, in the same order. If it throws, nothing was committed; only after a lost connection the outcome is
   * unknown.
   */
  readonly run: (rows: readonly Row[]) => Promise<readonly (Outcome | typeof again)[]>;
  /** Runs a row in a transaction of its own; by default it is a batch of one. */
  readonly runAlone?: (row: Row) => Promise<Outcome | typeof again>;
  /** The team of a row. A batch takes rows of all teams round robin. */
  readonly teamOf: (row: Row) => unknown;
  /** Names a lock that many rows may need. At most 64 rows with the same lock are tried again at a time. */
  readonly lockOf?: (row: Row) => string;
  /**
   * Time that the first row of a batch waits for others. It is multiplied by the number of processes: each gets a share
   * of the rows, and batches stay as large as those of one process.
   */
  readonly windowMs: number;
  /** Maximum number of waiting rows. Beyond it, teams that have at least their equal share of them are refused. */
  readonly waitingMax: number;
  readonly refuse: () => Error;
}

type Result<Outcome> = Outcome | typeof again | typeof alone | RowFailure;
type Lane<Row, Outcome> = Batcher<Row, Result<Outcome>>;

const rowsMax = 256;

/** Rows with the same lock that are tried again at a time. */
const retriesOfLockMax = 64;

/** Only one batch runs at a time, because two batches would pay the fixed cost of a statement twice (decision 0005). */
const batchesInFlightMax = 1;

/** How long a locked row is tried. */
const againMaxMs = 5_000;

/**
 * The pause before a try is a sixteenth of the time since the first one, between these bounds; the second try has none.
 * Another process that sends much for the same team leaves the team's row free only for moments. Beside such a process,
 * a send waited for more than a second when its pauses doubled.
 */
const [pauseMinMs, pauseMaxMs, pauseShare] = [3, 250, 1 / 16];

/** After a row of a team made a batch wait for a lock, how long new rows of the team stay out of shared batches. */
const apartMs = 1_000;

/**
 * Group commit (decision 0039): rows of all teams that arrive together share one transaction and one commit. Sends,
 * look-ups of polls, claims and reports use it.
 *
 * A batch gives a row its outcome, or the row is tried again. So no row waits long inside PostgreSQL for the lock of
 * another transaction, and none delays another team. If a batch fails, each team's rows become a batch of their own. If
 * that batch fails, too, its rows are tried one by one. A wait for a lock that SKIP LOCKED cannot avoid fails the
 * batch. The team whose row waited then stays out of shared batches for a second, so that it delays other teams only
 * once.
 */
export class GroupCommit<Row, Outcome> {
  readonly #shared: Lane<Row, Outcome>;
  readonly #alone: Lane<Row, Outcome>;
  readonly #options: GroupCommitOptions<Row, Outcome>;
  readonly #metrics: ReturnType<typeof batchMetricsOf>;
  /** The teams that stay out of shared batches, with the end of that time. */
  readonly #apartUntilMs = new Map<unknown, number>();
  readonly #retries: KeyedSemaphore;
  readonly #retryQueue: QueueBounds;

  constructor(options: GroupCommitOptions<Row, Outcome>) {
    const { name, services, run, teamOf, windowMs, waitingMax, refuse } = options;
    const { runAlone = async (row: Row) => (await run([row]))[0] ?? again } = options;
    this.#metrics = batchMetricsOf(services.metrics);
    const { againRows, aloneRows, rollbacks } = this.#metrics;
    const batch = { batch: name };
    for (const counter of [againRows, aloneRows, rollbacks]) counter.inc(batch, 0);
    this.#options = options;
    this.#retries = new KeyedSemaphore({ clock: new Clock(), runningMax: retriesOfLockMax });
    this.#retryQueue = { name, waitingMax, waitMaxMs: againMaxMs, refuse: locked };
    const queue = {
      inFlightMax: batchesInFlightMax,
      waitingMax,
      queueOf: teamOf,
      refuse,
      // The next batch would time out as well, for instance while a synchronous standby is frozen or there is no primary.
      refuseWaiting: (error: unknown) => {
        if (error instanceof NoConnectionError) return error;
        return isTimeout(error) ? new NoConnectionError(error as Error) : undefined;
      },
    };
    this.#shared = new Batcher({
      ...queue,
      sizeMax: rowsMax,
      windowMs,
      stretch: () => services.database.processes,
      run: (rows) => this.#runTogether(rows),
    });
    this.#alone = new Batcher({
      ...queue,
      sizeMax: 1,
      windowMs: 0,
      run: async ([row]): Promise<Result<Outcome>[]> => {
        if (row === undefined) return [];
        aloneRows.inc(batch);
        const result: Result<Outcome> = await runAlone(row).catch((error: unknown) => {
          if (!isLocked(error)) throw error;
          this.#setApart(teamOf(row));
          return again;
        });
        return [result];
      },
    });
  }

  /** Adds a row to the next batch. @param how `alone` gives the row a transaction of its own @throws AppError 503 */
  async add(row: Row, how: 'shared' | 'alone' = 'shared'): Promise<Outcome> {
    const startedMs = performance.now();
    const lane = how === 'shared' ? this.#laneOf(row) : this.#alone;
    const result = lane === this.#shared ? await this.#shared.add(row) : alone;
    if (result instanceof RowFailure) throw result.error;
    if (result !== again && result !== alone) return result;
    const retry = () => this.#retry(row, result === alone, startedMs);
    const lock = this.#options.lockOf?.(row);
    return lock === undefined ? retry() : this.#retries.run(lock, this.#retryQueue, retry);
  }

  /** Runs a batch. If it fails, each team's rows run as a batch of their own. */
  async #runTogether(rows: readonly Row[]): Promise<readonly Result<Outcome>[]> {
    const { name, run, teamOf } = this.#options;
    const { size, againRows, rollbacks } = this.#metrics;
    const batch = { batch: name };
    size.observe(batch, rows.length);
    try {
      const results = await run(rows);
      againRows.inc(batch, results.filter((result) => result === again).length);
      return results;
    } catch (error) {
      // While the database is away, the rows would fail alone, too, and a commit may have succeeded.
      if (isDatabaseAway(error)) throw error;
      rollbacks.inc(batch);
      const teams = Map.groupBy(rows.entries(), ([, row]) => teamOf(row));
      if (teams.size === 1) {
        if (isLocked(error)) for (const team of teams.keys()) this.#setApart(team);
        return rows.map(() => alone);
      }
      const results: Result<Outcome>[] = [];
      for (const ofTeam of teams.values()) {
        // The batches of other teams may have been committed, so an error applies to the rows of this team only.
        const failed = (partError: unknown) => ofTeam.map(() => new RowFailure(partError));
        const part: readonly Result<Outcome>[] = await this.#runTogether(ofTeam.map(([, row]) => row)).catch(
          failed,
        );
        for (const [index, [position]] of ofTeam.entries()) results[position] = part[index] ?? again;
      }
      return results;
    }
  }

  /** The lane of a row: `#alone` while its team stays out of shared batches. */
  #laneOf(row: Row): Lane<Row, Outcome> {
    const untilMs = this.#apartUntilMs.get(this.#options.teamOf(row)) ?? 0;
    return untilMs > performance.now() ? this.#alone : this.#shared;
  }

  #setApart(team: unknown): void {
    const nowMs = performance.now();
    for (const [other, untilMs] of this.#apartUntilMs) if (untilMs <= nowMs) this.#apartUntilMs.delete(other);
    this.#apartUntilMs.set(team, nowMs + apartMs);
  }

  async #retry(row: Row, isAlone: boolean, startedMs: number): Promise<Outcome> {
    for (;;) {
      const result = await (isAlone ? this.#alone : this.#laneOf(row)).add(row);
      const sinceMs = performance.now() - startedMs;
      if (result instanceof RowFailure) throw result.error;
      if (result === alone) return this.#retry(row, true, startedMs);
      if (result !== again) return result;
      if (sinceMs > againMaxMs) throw locked();
      await pause(Math.min(Math.max(sinceMs * pauseShare, pauseMinMs), pauseMaxMs));
    }
  }
}

function locked(): Error {
  return unavailable('Another change of the same data has not ended yet. Repeat the request in a moment.');
}

const registered = new WeakMap<Metrics, ReturnType<typeof register>>();

/**
 * Returns the metrics that all group commits of a process share (specification section 10.4). The first call registers
 * them.
 */
function batchMetricsOf(metrics: Metrics): ReturnType<typeof register> {
  const known = registered.get(metrics) ?? register(metrics);
  registered.set(metrics, known);
  return known;
}

function register(metrics: Metrics) {
  const shared = { labelNames: ['batch'] as const, registers: [metrics] };
  return {
    size: new Histogram({
      ...shared,
      name: 'ownline_batch_size',
      help: 'Rows of a shared batch: sends, claims, reports, or polls that were looked up.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    }),
    againRows: new Counter({
      ...shared,
      name: 'ownline_batch_again_rows_total',
      help: 'Rows that go into a later batch, because another transaction has locked or changed them.',
    }),
    aloneRows: new Counter({
      ...shared,
      name: 'ownline_batch_alone_rows_total',
      help: 'Rows that ran in a transaction of their own.',
    }),
    rollbacks: new Counter({
      ...shared,
      name: 'ownline_batch_rollbacks_total',
      help: 'Batches that were rolled back, so that their rows ran again, by team or alone.',
    }),
  };
}
