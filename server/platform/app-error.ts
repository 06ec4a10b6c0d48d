import { type ErrorCode, type ErrorEnvelope, errorStatus } from '#contract/errors.ts';
import { countText } from './text.ts';

interface AppErrorOptions {
  /** The invalid field, query parameter or header. */
  readonly param?: string;
  /** Further fields of the error object in the response, such as `limit` and `current`. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The HTTP status, if it differs from the usual status of the code (405, 413, 415, 503). */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error for the caller, with a message that says what to do next (specification section 7). */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param;
    this.details = options.details ?? {};
    this.status = options.status ?? errorStatus[code];
    this.headers = options.headers ?? {};
  }

  envelope(): ErrorEnvelope {
    const param = this.param === undefined ? {} : { param: this.param };
    return { error: { code: this.code, message: this.message, ...param, ...this.details } };
  }
}

export function invalid(
  param: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError {
  return new AppError('invalid_request', message, { param, details });
}

/** The error for a request that can't be read: its framing, encoding, size or form (specification section 7.1). */
export function unreadable(
  message: string,
  status = 400,
  options: Pick<AppErrorOptions, 'param' | 'headers' | 'cause'> = {},
): AppError {
  return new AppError('invalid_request', message, { ...options, status });
}

/** The error for a body over the limit of its route. */
export function bodyTooLarge(limitBytes: number): AppError {
  return unreadable(`The body is too large. Send at most ${limitBytes / 1_024} KiB.`, 413);
}

/** The error for a change that the present state of the resource does not allow. */
export function conflict(message: string, param?: string): AppError {
  return new AppError('conflict', message, param === undefined ? {} : { param });
}

/** The error for a caller without the right to an operation. */
export function forbidden(message: string, param?: string): AppError {
  return new AppError('forbidden', message, param === undefined ? {} : { param });
}

/** The error for an unknown id, and for an id of another team (specification section 7.2). */
export function notFound(noun: string): AppError {
  return new AppError('not_found', `No such ${noun}. Check the id; it may have been deleted.`);
}

/**
 * The error for an exceeded rate limit (specification section 7.2).
 * @param seconds the time until the same request is accepted
 * @param limit describes the limit in the error's message, such as `a session has 600 a minute`
 */
export function tooManyRequests(seconds: number, limit?: string): AppError {
  return rateLimited(seconds, limit === undefined ? 'Too many requests' : `Too many requests: ${limit}`);
}

/**
 * The error 429 with retry-after.
 * @param seconds the time until the same request is accepted
 * @param reason the first sentence of the message, without its full stop
 * @param alternative the end of the message's second sentence, after the seconds
 */
export function rateLimited(seconds: number, reason: string, alternative = ''): AppError {
  return new AppError('rate_limited', `${reason}. Retry in ${countText(seconds, 'second')}${alternative}.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** The error for a server that is over capacity, stopping or without its database (specification section 7.2). */
export function unavailable(
  message: string,
  options: { status?: 500 | 503; cause?: unknown } = {},
): AppError {
  return new AppError('internal_error', message, {
    status: options.status ?? 503,
    headers: { 'retry-after': '2' },
    cause: options.cause,
  });
}
