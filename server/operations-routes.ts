import { Type } from 'typebox';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';

/** What a load balancer and an operator ask (specification section 10.4). */
export function operationsRoutes(
  { database, metrics }: Pick<Runtime, 'database' | 'metrics'>,
  isStopping: () => boolean,
): Route[] {
  const answers = { 200: Type.Object({ status: Type.Literal('ok') }) };
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
      answers,
      handle: async () => {
        if (isStopping()) throw unavailable('This process is stopping.');
        try {
          // Migrations ran before the server listened, so a database that answers is a database that is ready.
          await database.pool.query('SELECT');
        } catch (error) {
          throw unavailable('The database does not answer.', { cause: error });
        }
        return { body: { status: 'ok' } };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      audience: 'operations',
      answers: { 200: Type.String() },
      handle: async () => ({
        body: await metrics.metrics(),
        headers: { 'content-type': metrics.contentType },
      }),
    }),
  ];
}
