import type pg from 'pg';
import { errorCodeOf } from '#server/platform/error-code.ts';
import { keepSlot, type SlotOptions } from './keep-slot.ts';
import { NoConnectionError, wrapConnect } from './no-connection.ts';

/** How long a connection is sought for a caller, so that a switchover of the database delays requests and fails none. */
const seekMaxMs = 5_000;
const seekPauseMs = 150;

/** SQLSTATE: the server, the database or the role has no connection left. */
export const tooManyCode = '53300';

/** How long a pool does with the connections that it has, before it tries to open further ones. */
const reducedMs = 60_000;

interface SeekOptions extends SlotOptions {
  /** True for an error that a repeat may mend. */
  readonly isAway: (error: Error) => boolean;
  /** Called when PostgreSQL refuses a further connection, at most once a minute. */
  readonly onReduced: () => void;
}

/**
 * Makes a pool seek a connection for each caller while the database is away. A caller that gets none fails with
 * NoConnectionError. Errors that a repeat does not mend fail at once, such as a wrong password or an unknown database.
 *
 * If PostgreSQL has no connection left, callers wait for one that the pool has.
 */
export function seekConnections(pool: pg.Pool, options: SeekOptions): void {
  const { isAway, onReduced } = options;
  const reduce = createReduction(pool, onReduced);
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
          // The next try may get no answer at all.
          deadline ??= setTimeout(() => fail(error), leftMs);
          if (errorCodeOf(error) === tooManyCode) reduce();
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
}

/** @returns a function that makes a pool do with its open connections for a minute; without any it changes nothing */
function createReduction(pool: pg.Pool, onReduced: () => void): () => void {
  const { max } = pool.options;
  let open = 0;
  let isReduced = false;
  pool.on('connect', () => {
    open += 1;
  });
  pool.on('remove', () => {
    open -= 1;
  });
  return () => {
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
}
