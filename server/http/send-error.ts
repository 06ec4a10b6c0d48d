import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, bodyTooLarge, unavailable, unreadable } from '#server/platform/app-error.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { errorPage } from './html.ts';
import { bodyMaxBytes } from './limits.ts';
import { audienceOf, wantsHtml } from './path-index.ts';
import type { Audience, Route } from './route.ts';
import { isRequestAborted } from './stream-answer.ts';
import { drainBody, hasLargeRest } from './unread-body.ts';

export interface ErrorOptions {
  /** Maps a thrown error to an error that names the reason, such as a full disk. */
  readonly explain?: (error: unknown) => unknown;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Headers of every answer, except for audiences without browsers. */
  readonly browserHeaders: Readonly<Record<string, string>>;
  /** The path of the start page, which the error page links to; it begins with the path of APP_URL. */
  readonly startPath: string;
}

/** Audiences of programs and phones, which ignore headers for browsers. */
const machineAudiences: readonly (Audience | undefined)[] = ['api', 'device', 'operations'];

/** Answers a failed request: with the error envelope, or with a page if a browser opens a page. */
export function sendError(
  options: ErrorOptions,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const appError = toAppError(options.explain?.(error) ?? error, request.routeOptions.bodyLimit);
  request.errorCode = appError.code;
  // Not logged: a refusal over capacity, which has no cause, and a body that the client aborted, which is no server
  // fault.
  if (appError.code === 'internal_error' && appError.cause !== undefined && !isRequestAborted(request)) {
    options.logger.error({ err: appError.cause, requestId: request.id }, 'a request failed');
  }
  if (audienceOf(request) !== 'device') settleRest(appError, request, reply);
  setResponseHeaders(options, audienceOf(request), request, reply);
  reply.code(appError.status).headers({ ...appError.headers });
  if (wantsHtml(request)) {
    // The page reloads itself only after 429. After 503, all pages of an overloaded server would reload at once.
    const isRepeatable = request.method === 'GET' && appError.status === 429;
    const waitSeconds = isRepeatable ? appError.headers['retry-after'] : undefined;
    if (waitSeconds !== undefined) reply.header('refresh', waitSeconds);
    const { body, headers } = errorPage(appError.message, options.startPath, waitSeconds !== undefined);
    reply.headers({ ...headers }).send(body);
  } else reply.type('application/json').send(appError.envelope());
}

/**
 * Decides about the unread rest of a refused request's body (docs/internals/bounds.md). Node reads and discards a file,
 * and a body that is too large, so that a caller with a credential gets the answer. After other refusals a large rest is
 * not read.
 */
function settleRest({ status }: AppError, request: FastifyRequest, reply: FastifyReply): void {
  const { principal, signedIn } = request.caller ?? {};
  const isKnown = principal !== undefined || signedIn !== undefined;
  const mayRead = isKnown && (status === 413 || request.routeOptions.config.streamsBody);
  if (!mayRead && hasLargeRest(request.raw)) request.server.delayedClose.apply(request, reply);
  // Fastify would close the connection while the client still writes. The client would get a reset instead of the
  // answer.
  else if (status === 413) keepConnectionOpen(reply);
}

function keepConnectionOpen(reply: FastifyReply): void {
  reply.removeHeader('connection');
}

/** Sets the headers of every answer. Errors set the headers, too: Fastify raises some errors before the route. */
export function setResponseHeaders(
  { browserHeaders }: ErrorOptions,
  audience: Audience | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (!machineAudiences.includes(audience)) reply.headers(browserHeaders);
  reply.header('request-id', request.id).header('cache-control', 'no-store');
}

/**
 * Answers a failed device call: with the route's own answer and HTTP 200, or with the error envelope. Up to 64 KB of
 * the body are read first, because a reset connection would end the shortcut. If the device is known and within its
 * limits, the whole body is read.
 */
export function deviceErrorHandler(options: ErrorOptions, { failure }: Route) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const appError = toAppError(error, request.routeOptions.bodyLimit);
    const warn = () => {
      if (appError.code !== 'internal_error') return;
      const line = { err: appError.cause ?? error, requestId: request.id };
      options.logger.warn(line, 'a request of a phone failed');
    };
    if (failure === 'hang up') {
      warn();
      reply.hijack();
      reply.raw.destroy();
      return;
    }
    const { device, refusal } = request.caller ?? {};
    if (device && !refusal) {
      if (appError.status === 413) keepConnectionOpen(reply);
    } else if (!(await drainBody(request, options.clock))) request.server.delayedClose.apply(request, reply);
    if (!failure) return sendError(options, appError, request, reply);
    if (!isRequestAborted(request)) warn();
    setResponseHeaders(options, 'device', request, reply);
    reply.code(200).send(failure(appError));
  };
}

/** Maps any thrown value to the error that the caller gets. @param limitBytes the body limit of the route */
export function toAppError(error: unknown, limitBytes = bodyMaxBytes): AppError {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  if (status === 413) return bodyTooLarge(limitBytes);
  if (status === 415) {
    return unreadable('Send the body with Content-Type: application/json.', 415);
  }
  if (status !== undefined && status >= 400 && status < 500) {
    return unreadable('The server could not read the request. Check its path, headers and length.', 400, {
      cause: error,
    });
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

/** One year, during which a browser that has used https once uses https only. */
const strictTransportSeconds = 31_536_000;

/**
 * Security headers of every answer (specification section 12.3). They forbid content sniffing, framing, scripts and
 * other content, and a referrer for other sites. Pages replace the policy by their own. No header allows CORS, so that
 * pages of other origins can't read answers (section 7.2).
 */
export function securityHeaders(appUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'content-security-policy':
      "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    // Strict-Transport-Security is sent with https only, because browsers ignore the header on plain http.
    ...(appUrl.startsWith('https:')
      ? { 'strict-transport-security': `max-age=${strictTransportSeconds}` }
      : {}),
  };
}
