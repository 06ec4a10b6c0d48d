import type { FastifyRequest } from 'fastify';
import { type AppError, forbidden } from '#server/platform/app-error.ts';

/**
 * CSRF guard (specification section 12.3): a request that changes something must come from a page of APP_URL. Browsers
 * state its origin in Sec-Fetch-Site, which pages can't write. They omit this header on plain http, except for
 * localhost. Then Origin must be that of APP_URL or, on plain http, the address of the request itself. A foreign name
 * that resolves to this server gains nothing: the browser sends that name's cookies, not ours.
 * @returns 403; undefined for an allowed request
 */
export function csrfRefusal(request: FastifyRequest, appUrl: string): AppError | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  const own = new URL(appUrl);
  const isSameHost = own.protocol === 'http:' && host !== undefined && origin === `http://${host}`;
  const isOwn = site === undefined ? origin === own.origin || isSameHost : site === 'same-origin';
  if (isOwn) return undefined;
  return forbidden(
    `This request must come from a page of ${own.origin}. Open it there; programs use /v1 with an API key.`,
  );
}
