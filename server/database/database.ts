import pg from 'pg';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Metrics } from '#server/platform/process/metrics.ts';
import type { ChangeRecorder } from './change.ts';
import { createClient } from './create-client.ts';
import { NotifySender } from './notify-sender.ts';
import { measurePools } from './pool-metrics.ts';
import type { ChangeRecordingPool, Transaction } from './query.ts';
import { NoConnectionError, seekConnections } from './seek-connection.ts';
import { Timeline } from './timeline.ts';

// int8 as a number: counts stay far below 2^53, and numbers as texts would compare wrongly. date as text, because a
// calendar day is no moment.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

interface DatabaseOptions {
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Where the highest timeline of the database is kept. */
  readonly dataDir?: string | undefined;
  /** Size of the pool for statements outside the hot path. */
  readonly poolSize?: number;
  /** Milliseconds after which a statement is cancelled. */
  readonly statementTimeoutMs?: number;
}

const defaultStatementTimeoutMs = 10_000;

/** Connections of the pool `batches`: one for each group commit, and one for rows that are tried alone. */
const batchConnections = 8;

/** Connections of the pool `hot`: for look-ups of credentials, rate limits and claims of deliveries. */
const hotConnections = 4;

const pagesConnections = 6;

const otherConnections = 10;

/** Database connections of a process at most: the pools, and those that send notifications, listen, and read the timeline. */
export const connectionsMax = batchConnections + hotConnections + pagesConnections + otherConnections + 3;

/** Says what to set if PostgreSQL has too few connections. */
export const connectionRemedy =
  'Raise max_connections of PostgreSQL, or the CONNECTION LIMIT of the role or of the database: each process of Ownline ' +
  `takes up to ${connectionsMax}.`;

/** How long a batch waits for a lock that no SKIP LOCKED avoids, such as that of a unique key. */
const batchLockTimeoutMs = 50;

/** How long a statement waits for a lock of another transaction. */
export const lockTimeoutMs = 5_000;

/** How much longer than PostgreSQL's time-out the client waits before it closes the connection as dead. */
const clientTimeoutMarginMs = 2_000;

/**
 * Four connection pools for one database: `batches` for group commits, `hot` for other work of each request, `pages`
 * for lists, and one for the rest. Results of deliveries use `batches` as well. A slow list can't delay the other
 * pools. Every connection has time-outs from its start. In `batches` a wait for a lock ends after a moment, so that no
 * team waits for the lock of another one.
 *
 * All but the last plan a statement once, because planning the send statement takes longer than running it. A plan made
 * while a table is empty would use a sequential scan, and later read all idempotency keys of a day for each batch. So
 * these pools disable sequential scans. They also disable bitmap scans, which return rows without an order: finding the
 * first row would sort the whole queue.
 *
 * The pages pool disables sorts and other joins as well. Otherwise a full sort may look cheaper for a rare handle, or before a table was
 * first analyzed. The cost of a full sort has no bound (decision 0012).
 */
export class Database {
  readonly batches: ChangeRecordingPool;
  readonly hot: ChangeRecordingPool;
  readonly pages: ChangeRecordingPool;
  readonly pool: ChangeRecordingPool;
  readonly timeline: Timeline;
  /** How many processes claim messages on this database, with this one. */
  processes = 1;
  readonly #databaseUrl: string;
  readonly #isEmbedded: boolean;
  readonly #notifying: pg.Pool;
  readonly #notifier: NotifySender;
  /** The pools, with how many connections each has open. */
  readonly #openCounts = new Map<pg.Pool, () => number>();
  #isClosing = false;

  constructor(options: DatabaseOptions) {
    this.#databaseUrl = options.databaseUrl;
    this.#isEmbedded = options.dataDir === undefined;
    this.timeline = new Timeline(options.logger, options.dataDir);
    // Commits of this pool wait for no standby, so one of its connections is soon free.
    const isRunning = async (processId: number) => {
      const { rowCount } = await this.#notifying.query(
        "SELECT 1 AS one FROM pg_stat_activity WHERE pid = $1 AND state = 'active'",
        [processId],
      );
      return rowCount === 1;
    };
    const onLost = (error: Error) => {
      // After `close` a lost connection is expected: connections end after close() returns, and the embedded
      // PostgreSQL may stop earlier.
      if (!this.#isClosing)
        options.logger.warn({ err: error }, 'a database connection was lost; it is replaced');
    };
    const openPlain = (own: OwnOptions): pg.Pool => {
      const pool = openPool(options, own, { timeline: this.timeline, onLost });
      const openCount = seekConnections(pool, {
        isAway: isDatabaseAway,
        isTimeout,
        isRunning,
        onReduced: () =>
          options.logger.warn(
            `PostgreSQL has no further connection for the pool "${own.application_name}", which does with those that it has. ${connectionRemedy}`,
          ),
        borrow: (callback) => {
          const lender = this.#lender();
          lender?.connect(callback);
          return lender !== undefined;
        },
      });
      this.#openCounts.set(pool, openCount);
      return pool;
    };
    // A sweep makes up for a notification that a crash loses, so the commit of a notification need not wait for the
    // disk.
    this.#notifying = openPlain({
      max: 1,
      application_name: 'ownline notifier',
      options: '-c synchronous_commit=off',
    });
    this.#notifier = new NotifySender(this.#notifying, options.logger);
    const open = (own: OwnOptions): ChangeRecordingPool =>
      Object.assign(openPlain(own), { recordChange: this.#notifier.recordChange });
    const plannedOnce =
      '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off';
    this.batches = open({
      max: batchConnections,
      application_name: 'ownline batches',
      options: plannedOnce,
      lock_timeout: batchLockTimeoutMs,
    });
    this.hot = open({ max: hotConnections, application_name: 'ownline hot', options: plannedOnce });
    this.pages = open({
      max: pagesConnections,
      application_name: 'ownline pages',
      options: [
        'plan_cache_mode=force_generic_plan',
        ...['sort', 'incremental_sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map(
          (way) => `enable_${way}=off`,
        ),
      ]
        .map((setting) => `-c ${setting}`)
        .join(' '),
    });
    this.pool = open({ max: options.poolSize ?? otherConnections, application_name: 'ownline' });
    if (options.metrics)
      measurePools(options.metrics, {
        batches: this.batches,
        hot: this.hot,
        pages: this.pages,
        other: this.pool,
      });
  }

  /**
   * Notifies every process, including this one, after the caller's commit. Never fails: a sweep makes up for a lost
   * notification.
   */
  notify(channel: string, ids: Iterable<string>): void {
    this.#notifier.notify(channel, ids);
  }

  /**
   * Commits the work, and then sends its notifications. If `work` throws, it is rolled back and nothing is sent. The
   * loser of a deadlock is repeated once, so `work` must have no effect outside its transaction.
   */
  async transaction<T>(work: (trx: Transaction) => Promise<T>, pool: pg.Pool = this.pool): Promise<T> {
    try {
      return await runTransaction(this, work, pool);
    } catch (error) {
      if (!isDeadlock(error)) throw error;
      return runTransaction(this, work, pool);
    }
  }

  /**
   * Reads the timeline on a new connection, because the open ones do not lead to a new primary. The embedded PostgreSQL
   * never gets one.
   */
  async followTimeline(): Promise<void> {
    if (this.#isEmbedded) return;
    const client = createClient({
      connectionString: this.#databaseUrl,
      application_name: 'ownline timeline',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    try {
      await client.connect();
      await this.timeline.follow(client);
    } catch (error) {
      // A refusal of an older copy is reported. Whether the database is away shows elsewhere.
      if (!isDatabaseAway(error)) throw error;
    } finally {
      client.connection.stream.destroy();
    }
  }

  /**
   * Borrows a connection of the pool that has most, while PostgreSQL refuses a further one.
   * @returns undefined if no pool has one. Release it with `true`
   */
  async borrow(): Promise<pg.PoolClient | undefined> {
    return this.#lender()?.connect();
  }

  #lender(): pg.Pool | undefined {
    const [most] = [...this.#openCounts].sort(([, a], [, b]) => b() - a());
    return most && most[1]() > 0 ? most[0] : undefined;
  }

  async close(): Promise<void> {
    await this.#notifier.drain();
    this.#isClosing = true;
    await Promise.all([
      this.batches.end(),
      this.hot.end(),
      this.pages.end(),
      this.pool.end(),
      this.#notifying.end(),
    ]);
  }
}

type OwnOptions = Pick<pg.PoolConfig, 'max' | 'application_name' | 'options' | 'lock_timeout'>;

interface ConnectionChecks {
  /** Refuses a new connection that leads to an older copy of the database. */
  readonly timeline: Timeline;
  readonly onLost: (error: Error) => void;
}

function openPool(
  options: DatabaseOptions,
  own: OwnOptions,
  { timeline, onLost }: ConnectionChecks,
): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? defaultStatementTimeoutMs;
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    connectionTimeoutMillis: 5_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + clientTimeoutMarginMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
    onConnect: (client) => timeline.check(client),
    keepAliveInitialDelayMillis: 10_000,
    // A pool keeps its last connection: a process that is idle would not get it back where PostgreSQL has none left.
    min: 1,
    ...own,
  });
  // The pool replaces a broken connection. A connection may emit its error twice, or during a query, when the pool does
  // not listen. An error without a listener would end the process.
  pool.on('connect', (client) => client.on('error', onLost));
  pool.on('error', () => undefined);
  return pool;
}

const connectionClasses = ['08', '57', '53', '58', 'XX'];
const connectionErrors = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ECONNABORTED',
];

/** SQLSTATE of a write in a read-only transaction, as on a primary that became a standby. Nothing was stored. */
export const readOnlyCode = '25006';

/** True if the database sent nothing within a time-out, as on a half-open connection. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** SQLSTATE: PostgreSQL ended a connection because its transaction was idle. */
const idleInTransaction = '25P03';

/** Messages of pg's errors for lost connections, which have no code. */
const lostConnection = /connection terminated|connection error and is not queryable/i;

/** Runs a transaction once, on a connection of the pool. */
async function runTransaction<T>(
  database: Pick<Database, 'notify' | 'pool'>,
  work: (trx: Transaction) => Promise<T>,
  pool: pg.Pool,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const notices: (readonly [channel: string, ids: Iterable<string>])[] = [];
  const notifyAfterCommit: Transaction['notifyAfterCommit'] = (channel, ids = []) => {
    notices.push([channel, ids]);
  };
  const committed: (() => void)[] = [];
  const afterCommit: Transaction['afterCommit'] = (run) => void committed.push(run);
  const changes: Parameters<ChangeRecorder>[] = [];
  const recordChange: ChangeRecorder = (...change) => void changes.push(change);
  try {
    await client.query('BEGIN');
    const result = await work(
      Object.assign(client, { transaction: true as const, notifyAfterCommit, afterCommit, recordChange }),
    );
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers COMMIT with ROLLBACK if a statement failed and the code ignored its error.
    if (command !== 'COMMIT')
      throw new Error('a transaction ended with ROLLBACK: one of its statements failed');
    for (const [channel, ids] of notices) database.notify(channel, ids);
    for (const change of changes) database.pool.recordChange(...change);
    for (const run of committed) run();
    return result;
  } catch (error) {
    // A connection that timed out or can't roll back is closed, which ends its transaction in PostgreSQL. One that leads
    // to a standby is closed, because the next one may lead to the primary.
    if (error instanceof Error && (isTimeout(error) || errorCodeOf(error) === readOnlyCode)) broken = error;
    else {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

function isDeadlock(error: unknown): boolean {
  return errorCodeOf(error) === '40P01';
}

/** True if a lock of another transaction was not free in time, or PostgreSQL ended a deadlock. */
export function isLocked(error: unknown): boolean {
  return errorCodeOf(error) === '55P03' || isDeadlock(error);
}

/** True if PostgreSQL cancelled the statement; the connection is still usable. */
export function isStatementTimeout(error: unknown): boolean {
  return errorCodeOf(error) === '57014';
}

/** True if the database was unreachable, shutting down or read-only: a repeat of the request may succeed soon. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof NoConnectionError) return true;
  const code = errorCodeOf(error);
  if (code !== undefined)
    return (
      connectionErrors.includes(code) ||
      connectionClasses.includes(code.slice(0, 2)) ||
      [idleInTransaction, readOnlyCode].includes(code)
    );
  return error instanceof Error && (isTimeout(error) || lostConnection.test(error.message));
}

/** Throws the error of a query that stores nothing of a request, such as a read: if the database went away, it is a 503. */
export function throwNothingStored(error: unknown): never {
  if (error instanceof NoConnectionError || !isDatabaseAway(error)) throw error;
  throw new NoConnectionError(error as Error);
}

/** True for a unique violation (23505). @param table limits it to violations of this table */
export function isUniqueViolation(error: unknown, table = ''): boolean {
  if (errorCodeOf(error) !== '23505') return false;
  return table === '' || (error instanceof pg.DatabaseError && error.table === table);
}
