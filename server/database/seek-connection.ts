import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '#server/platform/app-error.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';

/** A pool had no free connection in time, or could not open one. No statement was sent, so nothing was stored. */
export class NoConnectionError extends AppError {
  constructor(cause: Error) {
    const isBusy = cause.message === 'timeout exceeded when trying to connect';
    const reason = isBusy ? 'The server is over capacity.' : 'The database does not answer.';
    super('internal_error', `${reason} Repeat the request in a moment.`, {
      status: 503,
      headers: { 'retry-after': '2' },
      cause,
    });
  }
}

type ConnectCallback = Parameters<pg.Pool['connect']>[0];
type Connect = (callback: ConnectCallback) => void;

/** Wraps how a pool connects. A pool's `query` calls `connect` with a callback; transactions call it without one. */
export function wrapConnect(
  pool: pg.Pool,
  wrap: (connect: Connect, callback: ConnectCallback) => void,
): void {
  const connect: Connect = pool.connect.bind(pool);
  const wrapped = (callback?: ConnectCallback) => {
    if (callback) return wrap(connect, callback);
    return new Promise((resolve, reject) => {
      wrap(connect, (error, client) => (error ? reject(error) : resolve(client)));
    });
  };
  pool.connect = wrapped as pg.Pool['connect'];
}

/** How long a connection is sought for a caller, so that a switchover of the database delays requests and fails none. */
const seekMaxMs = 5_000;
const seekPauseMs = 150;

/** SQLSTATE: the server, the database or the role has no connection left. */
export const tooManyCode = '53300';

/** How long a pool does with the connections that it has, before it tries to open further ones. */
const reducedMs = 60_000;

interface SeekOptions {
  /** True for an error that a repeat may mend. */
  readonly isAway: (error: Error) => boolean;
  readonly isTimeout: (error: Error) => boolean;
  /** Asks PostgreSQL, on another connection, whether a backend runs a statement. */
  readonly isRunning: (processId: number) => Promise<boolean>;
  /** Called when PostgreSQL refuses a further connection, at most once a minute. */
  readonly onReduced: () => void;
  /** Connects through another pool, if one has a connection. @returns whether it does */
  readonly borrow: (callback: ConnectCallback) => boolean;
}

/**
 * Makes a pool seek a connection for each caller while the database is away. A caller that gets none fails with
 * NoConnectionError. Errors that a repeat does not mend fail at once, such as a wrong password or an unknown database.
 *
 * If PostgreSQL has no connection left, callers wait for one that the pool has, or borrow one of another pool.
 *
 * @returns counts the open connections of the pool
 */
export function seekConnections(pool: pg.Pool, options: SeekOptions): () => number {
  const { isAway, onReduced, borrow } = options;
  const { reduce, openCount } = createReduction(pool, onReduced);
  wrapConnect(pool, (connect, callback) => {
    const untilMs = performance.now() + seekMaxMs;
    let deadline: NodeJS.Timeout | undefined;
    let isOver = false;
    const fail = (error: Error) => {
      isOver = true;
      callback(new NoConnectionError(error), undefined, () => undefined);
    };
    const seek = () =>
      connect((error, client, release) => {
        if (isOver) return client && release();
        const leftMs = untilMs - performance.now();
        if (error && isAway(error) && leftMs > seekPauseMs && !pool.ending) {
          if (errorCodeOf(error) === tooManyCode) {
            if (openCount() === 0 && borrow(callback)) return clearTimeout(deadline);
            reduce();
          }
          // The next try may get no answer at all.
          deadline ??= setTimeout(() => fail(error), leftMs);
          setTimeout(seek, pool.totalCount < pool.options.max ? seekPauseMs : 0);
          return;
        }
        clearTimeout(deadline);
        if (error) return fail(error);
        if (client) keepSlot(pool, client, options);
        callback(undefined, client, release);
      });
    seek();
  });
  return openCount;
}

/** `reduce` makes a pool do with its open connections for a minute; without any it changes nothing. */
function createReduction(
  pool: pg.Pool,
  onReduced: () => void,
): { readonly reduce: () => void; readonly openCount: () => number } {
  const { max } = pool.options;
  let open = 0;
  let isReduced = false;
  pool.on('connect', () => {
    open += 1;
  });
  pool.on('remove', () => {
    open -= 1;
  });
  const reduce = () => {
    if (open === 0) return;
    pool.options.max = Math.min(pool.options.max, open);
    if (isReduced) return;
    isReduced = true;
    onReduced();
    setTimeout(() => {
      isReduced = false;
      pool.options.max = max;
    }, reducedMs).unref();
  };
  return { reduce, openCount: () => open };
}

/** How often PostgreSQL is asked whether the statement of a connection still runs. */
const lookMs = 1_000;

/**
 * A connection whose statement timed out keeps its slot in the pool until that statement has ended in PostgreSQL. So the
 * commits that wait for a synchronous standby are never more than the slots.
 *
 * Such a commit is not cancelled: it would be visible before the standby has it. A repeat of its send would be 202, and
 * a failover would lose that message.
 */
function keepSlot(pool: pg.Pool, client: pg.PoolClient, { isTimeout, isRunning }: SeekOptions): void {
  const release = client.release;
  client.release = (error) => {
    if (!(error instanceof Error && isTimeout(error))) return release(error);
    void untilEnded(pool, client, isRunning).then(() => release(error));
  };
}

async function untilEnded(pool: pg.Pool, client: pg.PoolClient, isRunning: SeekOptions['isRunning']) {
  const { processID } = client as unknown as { readonly processID: number };
  const ended = new AbortController();
  const { signal } = ended;
  const end = () => ended.abort();
  client.connection.once('readyForQuery', end).once('end', end);
  const isWaiting = async () =>
    !signal.aborted && !pool.ending && (await isRunning(processID).catch(() => false));
  while (await isWaiting()) await pause(lookMs, undefined, { ref: false, signal }).catch(() => undefined);
}
