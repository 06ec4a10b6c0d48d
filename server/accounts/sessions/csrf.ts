import type { FastifyRequest } from 'fastify';
import { type AppError, forbidden } from '#server/platform/app-error.ts';

/**
 * CSRF guard (specification section 12.3): a request that changes something must come from a page of APP_URL. Browsers
 * state the page's origin in the header Sec-Fetch-Site, which pages can't write. On plain http they omit it, except for
 * localhost. Then the header Origin must be that of APP_URL or, on plain http, the address of the request itself. A
 * foreign host name that resolves to this server gains nothing: browsers send it no cookie of APP_URL.
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
