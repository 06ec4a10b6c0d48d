import type { FastifyRequest } from 'fastify';
import { AppError } from '#server/platform/app-error.ts';

/**
 * The rule against forged requests (specification section 12.3): a request that changes something must come from a page
 * of our own. Browsers say so in Sec-Fetch-Site, which pages can't write; one that sends none must send our Origin.
 */
export function refuseForeignOrigin(request: FastifyRequest, appUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const site = request.headers['sec-fetch-site'];
  const isOwn =
    site === undefined ? request.headers.origin === new URL(appUrl).origin : site === 'same-origin';
  if (isOwn) return;
  throw new AppError(
    'forbidden',
    `This request must come from a page of ${new URL(appUrl).origin}. Open the dashboard there; programs use /v1 with an API key.`,
  );
}
