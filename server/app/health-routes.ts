import { timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';

import type { ClockStatus } from '#server/database/clock-sync.ts';
import { createReadiness } from '#server/database/readiness.ts';

import type { Runtime } from '#server/database/runtime.ts';
import { AppError, unavailable } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type Route, route } from '#server/platform/http/route.ts';

/** Health, readiness and metrics, for load balancers and operators (specification section 10.4). */
export function healthRoutes(
  services: Runtime & { readonly clockStatus: () => ClockStatus },
  isStopping: () => boolean,
): Route[] {
  const { config, metrics, clockStatus } = services;
  const answers = { 200: Type.Object({ status: Type.Literal('ok') }) };
  const databaseAnswers = createReadiness(services);
  return [
    route({
      method: 'GET',
      path: '/healthz',
      audience: 'operations',
      answers,
      handle: async () => ({ body: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      audience: 'operations',
      answers: {
        200: Type.Object({
          status: Type.Literal('ok'),
          clock: Type.Object({ settled: Type.Boolean(), step_seconds: Type.Number() }),
        }),
      },
      handle: async () => {
        if (isStopping()) throw unavailable('This process is stopping.');
        try {
          // Migrations ran before the server listened: a database that answers is ready.
          await databaseAnswers();
        } catch (error) {
          throw unavailable('The database does not answer.', { cause: error });
        }
        return { body: { status: 'ok', clock: clockStatus() } };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      audience: 'operations',
      answers: { 200: Type.String() },
      handle: async ({ request }) => {
        requireBearer(request.headers.authorization, config.metricsToken);
        return { body: await metrics.metrics(), headers: { 'content-type': metrics.contentType } };
      },
    }),
  ];
}

/** @throws AppError 404 without a configured token, 401 for a wrong one */
function requireBearer(authorization: string | undefined, token: string | undefined): void {
  if (token === undefined) {
    throw new AppError(
      'not_found',
      'Metrics are off. Set METRICS_TOKEN, restart, and send the token as Authorization: Bearer <token>.',
    );
  }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // timingSafeEqual requires equal lengths, which hashes have.
  if (timingSafeEqual(sha256(given), sha256(token))) return;
  throw new AppError('unauthorized', 'Send METRICS_TOKEN as Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}
