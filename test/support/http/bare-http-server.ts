import type { FastifyInstance } from 'fastify';
import { createHttpServer, type HttpServerOptions } from '#server/http/http-server.ts';
import type { Route } from '#server/http/route.ts';
import { Ids } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { given } from '#test/support/service/given.ts';

/** Makes an HTTP server with these routes, without database and service. It does not listen yet. */
export function createBareServer(
  routes: readonly Route[],
  options: Partial<HttpServerOptions> = {},
): FastifyInstance {
  const clock = options.clock ?? new Clock();
  return createHttpServer({
    routes,
    authenticators: {},
    record: () => {},
    isStopping: () => false,
    ids: new Ids(clock),
    clock,
    logger: createLogger('fatal'),
    trustProxy: [],
    browserHeaders: {},
    startPath: '/',
    ...options,
  });
}

/** Listens on a free port of 127.0.0.1. @returns the port */
export async function listenOnFreePort(server: FastifyInstance): Promise<number> {
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
}

/** A server that listens on a free port of 127.0.0.1, for a suite. */
export function givenListening(server: FastifyInstance): { readonly port: number } {
  return given(
    async () => ({ port: await listenOnFreePort(server) }),
    async () => {
      server.server.closeAllConnections();
      await server.close();
    },
  );
}
