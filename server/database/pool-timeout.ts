import { AppError } from '#server/platform/app-error.ts';

/** The pool had no free connection within the time-out, so no statement was sent. */
export class PoolTimeoutError extends AppError {
  constructor(cause: unknown) {
    super('internal_error', 'The server is over capacity. Repeat the request in a moment.', {
      status: 503,
      headers: { 'retry-after': '2' },
      cause,
    });
  }
}

/** @throws PoolTimeoutError for a time-out of pg's pool queue; otherwise the same error */
export function rethrowPoolTimeout(error: unknown): never {
  const isTimeout = error instanceof Error && error.message === 'timeout exceeded when trying to connect';
  throw isTimeout ? new PoolTimeoutError(error) : error;
}
