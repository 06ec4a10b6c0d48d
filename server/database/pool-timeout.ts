import { AppError } from '#server/platform/app-error.ts';

/** All connections of a pool stayed in use for the whole time that a statement may wait for one. Nothing was sent. */
export class PoolTimeoutError extends AppError {
  constructor(cause: unknown) {
    super('internal_error', 'The server is over capacity. Repeat the request in a moment.', {
      status: 503,
      headers: { 'retry-after': '2' },
      cause,
    });
  }
}

/** @throws PoolTimeoutError for the time-out of pg's queue of a pool, else the error as it came */
export function rethrowPoolTimeout(error: unknown): never {
  const isTimeout = error instanceof Error && error.message === 'timeout exceeded when trying to connect';
  throw isTimeout ? new PoolTimeoutError(error) : error;
}
