import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Route } from '#server/http/route.ts';
import { createBareServer } from '#test/support/http/bare-http-server.ts';
import { until } from '#test/support/service/until.ts';

/** A barrier at which a request waits until the test releases it. */
class Place {
  readonly #come = Promise.withResolvers<void>();
  readonly #go = Promise.withResolvers<void>();
  readonly come = this.#come.promise;
  readonly letGo = this.#go.resolve;

  async stay(): Promise<void> {
    this.#come.resolve();
    await this.#go.promise;
  }
}

describe('the HTTP server that stops after a client has disconnected (specification section 10.3)', () => {
  /** Sends a request, disconnects once it waits at the barrier, stops the server, and releases the request. */
  async function hangUpAt(place: Place, handle: Route['handle'], atDoor: () => Promise<void>): Promise<void> {
    const server = createBareServer(
      [{ method: 'DELETE', path: '/long', audience: 'api', answers: {}, handle }],
      {
        authenticators: { api: () => atDoor().then(() => ({})) },
      },
    );
    const address = await server.listen({ host: '127.0.0.1', port: 0 });
    const leaving = new AbortController();
    const asked = fetch(`${address}/long`, { method: 'DELETE', signal: leaving.signal });
    const left = assert.rejects(asked, { name: 'AbortError' });
    await place.come;
    leaving.abort();
    await left;
    let stopped = false;
    const stop = server.close().then(() => {
      stopped = true;
    });
    // The server ends after its last connection. Fastify then takes a few iterations of the event loop to close.
    const connections = () =>
      new Promise<number>((resolve, reject) =>
        server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await until('the last connection is closed', async () => (await connections()) === 0);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(stopped, false);
    place.letGo();
    await stop;
  }
  const openDoor = async () => undefined;

  it('the server’s stop waits for a request in progress whose client has disconnected', async () => {
    const place = new Place();
    let done = false;
    const handle = async () => {
      await place.stay();
      done = true;
      return { body: {} };
    };
    await hangUpAt(place, handle, openDoor);
    assert.ok(done);
  });

  it('the server’s stop waits for a request that is being authenticated', async () => {
    const door = new Place();
    let done = false;
    const handle = async () => {
      done = true;
      return { body: {} };
    };
    await hangUpAt(door, handle, () => door.stay());
    assert.ok(done);
  });
});
