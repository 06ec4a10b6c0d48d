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
