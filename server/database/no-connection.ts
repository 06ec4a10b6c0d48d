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

/**
 * Makes a pool fail with NoConnectionError if it has no connection for a caller. A pool's `query` calls `connect` with a
 * callback; transactions call it without one.
 */
export function markConnectErrors(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool);
  const marked = (callback?: ConnectCallback): unknown => {
    if (callback === undefined)
      return connect().catch((error: Error) => {
        throw new NoConnectionError(error);
      });
    return connect((error, client, release) =>
      callback(error && new NoConnectionError(error), client, release),
    );
  };
  pool.connect = marked as pg.Pool['connect'];
}
