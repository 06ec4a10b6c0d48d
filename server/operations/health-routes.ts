import { timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';

import { createReadiness } from '#server/database/readiness.ts';
import { AppError, unavailable } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { toAppError } from '#server/platform/http/send-error.ts';
import { ReadinessDetails, type ReadinessServices, readReadinessDetails } from './readiness-details.ts';

/** Health, readiness and metrics, for load balancers and operators (specification section 10.4). */
export function healthRoutes(services: ReadinessServices): Route[] {
  const { config, metrics, restoreHold, clockSync, isStopping, explainError } = services;
  const answers = { 200: Type.Object({ status: Type.Literal('ok') }) };
  const databaseAnswers = createReadiness(services);
  const remedy =
    config.databaseUrl === undefined
      ? 'Ownline starts its PostgreSQL again by itself; postgres.log in DATA_DIR has the cause.'
      : 'Check that it runs and that DATABASE_URL is right.';
  const requireReady = async () => {
    if (isStopping()) throw unavailable('This process is stopping. Send requests to another one.');
    try {
      // The schema was applied before the server listened, so a database that answers and can write is ready.
      await databaseAnswers();
    } catch (error) {
      throw unavailable(`The database does not answer. ${remedy}`, { cause: error });
    }
  };
  return [
    route('GET /healthz', {
      audience: 'operations',
      answers,
      handle: async () => ({ body: { status: 'ok' } }),
    }),
    route('GET /readyz', {
      audience: 'operations',
      query: Type.Object({ verbose: Type.Optional(Type.String({ maxLength: 10 })) }),
      answers: {
        200: Type.Union([
          ReadinessDetails,
          Type.Object({
            status: Type.Literal('ok'),
            clock: Type.Object({ settled: Type.Boolean(), step_seconds: Type.Number() }),
            restore_hold: Type.Boolean(),
          }),
        ]),
        503: ReadinessDetails,
      },
      handle: async ({ query, request }) => {
        if (query.verbose === undefined) {
          await requireReady();
          return { body: { status: 'ok', clock: clockSync.status, restore_hold: restoreHold.isHeld } };
        }
        requireBearer(request.headers.authorization, config.metricsToken);
        const refused = await requireReady().then(
          () => undefined,
          (error: unknown) => toAppError(explainError(error)),
        );
        const details = await readReadinessDetails(services);
        if (refused === undefined) return { body: { status: 'ok', message: null, ...details } };
        return {
          status: refused.status,
          headers: refused.headers,
          body: { status: 'unavailable', message: refused.message, ...details },
        };
      },
    }),
    route('GET /metrics', {
      audience: 'operations',
      answers: { 200: Type.String() },
      handle: async ({ request }) => {
        requireBearer(request.headers.authorization, config.metricsToken);
        return { body: await metrics.metrics(), headers: { 'content-type': metrics.contentType } };
      },
    }),
  ];
}

/** Checks the bearer token of a request. @throws AppError 404 if METRICS_TOKEN is not set, 401 for a wrong token */
function requireBearer(authorization: string | undefined, token: string | undefined): void {
  if (token === undefined) {
    throw new AppError(
      'not_found',
      'Metrics and details are off. Set METRICS_TOKEN, restart, and send the token as Authorization: Bearer <token>.',
    );
  }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  // timingSafeEqual requires texts of equal length, so hashes are compared.
  if (timingSafeEqual(sha256(given), sha256(token))) return;
  throw new AppError('unauthorized', 'Send METRICS_TOKEN as Authorization: Bearer <token>.', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}
