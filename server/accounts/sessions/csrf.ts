import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';

/**
 * CSRF guard (specification section 12.3): a request that changes something must come from a page of our own. Browsers
 * send its origin in Sec-Fetch-Site, which pages can't write. They omit it on plain http, except for this machine. Then
 * Origin must be that of APP_URL, or, on plain http, the address of the request itself. If a foreign name resolves to
 * this server, the browser sends that name's cookies and none of ours.
 * @returns 403; undefined where the request keeps the rule
 */
export function csrfRefusal(request: FastifyRequest, appUrl: string): AppError | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  const { 'sec-fetch-site': site, origin, host } = request.headers;
  const own = new URL(appUrl);
  const isSameHost = own.protocol === 'http:' && host !== undefined && origin === `http://${host}`;
  const isOwn = site === undefined ? origin === own.origin || isSameHost : site === 'same-origin';
  if (isOwn) return undefined;
  return new AppError(
    'forbidden',
    `This request must come from a page of ${own.origin}. Open it there; programs use /v1 with an API key.`,
  );
}
