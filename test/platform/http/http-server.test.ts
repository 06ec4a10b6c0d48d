import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Clock } from '#server/platform/clock.ts';
import { createHttpServer } from '#server/platform/http/http-server.ts';
import { Ids } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/logger.ts';
import { until } from '#test/support/until.ts';

describe('the server over HTTP (specification section 10.3)', () => {
  it('has stopped once everything that it was asked for is done, though whoever asked has gone', async () => {
    const begun = Promise.withResolvers<void>();
    const work = Promise.withResolvers<void>();
    const server = createHttpServer({
      routes: [
        {
          method: 'GET',
          path: '/long',
          answers: {},
          audience: 'operations',
          handle: async () => {
            begun.resolve();
            await work.promise;
            return { body: 'done' };
          },
        },
      ],
      doors: {},
      record: () => {},
      isStopping: () => false,
      ids: new Ids(new Clock()),
      logger: createLogger('fatal'),
      trustProxy: [],
      browserHeaders: {},
      startPath: '/',
    });
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    const leaving = new AbortController();
    const left = assert.rejects(fetch(`${address}/long`, { signal: leaving.signal }), { name: 'AbortError' });
    await begun.promise;
    leaving.abort();
    await left;
    let stopped = false;
    const stop = server.close().then(() => {
      stopped = true;
    });
    // Its own end is that of its last connection; what Fastify does after that takes a few turns.
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await until('the last connection is closed', async () => (await connections()) === 0);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stopped, false);
    work.resolve();
    await stop;
  });
});
