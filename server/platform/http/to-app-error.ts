import { AppError, unavailable } from '#server/platform/app-error.ts';
import { bodyMaxBytes } from './limits.ts';

/** Maps any thrown value to the error that the caller gets. @param limitBytes the body limit of the route */
export function toAppError(error: unknown, limitBytes = bodyMaxBytes): AppError {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  if (status === 413) {
    return new AppError('invalid_request', `The body is too large. Send at most ${limitBytes / 1_024} KiB.`, {
      status: 413,
    });
  }
  if (status === 415) {
    return new AppError('invalid_request', 'Send the body with Content-Type: application/json.', {
      status: 415,
    });
  }
  if (status !== undefined && status >= 400 && status < 500) {
    return new AppError(
      'invalid_request',
      'The server could not read the request. Check its path, headers and length.',
      {
        cause: error,
      },
    );
  }
  return unavailable('Something went wrong on our side. Repeat the request in a moment.', {
    status: 500,
    cause: error,
  });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
