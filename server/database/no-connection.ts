import type pg from 'pg';
import { AppError } from '#server/platform/app-error.ts';

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

/** Makes a pool fail with NoConnectionError if it has no connection for a caller. */
export function markConnectErrors(pool: pg.Pool): void {
  wrapConnect(pool, () => (error) => error && new NoConnectionError(error));
}

type End = (error: Error | undefined) => Error | undefined;

/**
 * Wraps how a pool connects. A pool's `query` calls `connect` with a callback; transactions call it without one.
 * @param begin called for each caller. The returned function gets the error, and returns the one that the caller gets
 */
export function wrapConnect(pool: pg.Pool, begin: () => End): void {
  const connect = pool.connect.bind(pool);
  const wrapped = (callback?: ConnectCallback): unknown => {
    const end = begin();
    if (callback) return connect((error, client, release) => callback(end(error), client, release));
    const onSuccess = (client: pg.PoolClient) => {
      end(undefined);
      return client;
    };
    return connect().then(onSuccess, (error: Error) => Promise.reject(end(error)));
  };
  pool.connect = wrapped as pg.Pool['connect'];
}
