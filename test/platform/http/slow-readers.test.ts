import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { slowReaderCheckMs, slowReaderMs } from '#server/platform/http/limits.ts';
import { flushedBytes } from '#server/platform/http/open-sockets.ts';
import type { Route } from '#server/platform/http/route.ts';
import { Clock } from '#server/platform/time/clock.ts';
import {
  closeWithConnections,
  createBareServer,
  listenOnFreePort,
} from '#test/support/service/bare-http-server.ts';
import { until } from '#test/support/service/until.ts';

/** More than the buffers of the kernel on both sides hold, so that bytes wait in this process. */
const large = Buffer.alloc(32 * 1_024 * 1_024, 'a');

describe('clients that do not read (§7.2/slow-readers)', () => {
  const clock = new Clock();
  const held = Promise.withResolvers<void>();
  const routes: readonly Route[] = [
    { method: 'GET', path: '/large', audience: 'page', answers: {}, handle: async () => ({ body: large }) },
    {
      method: 'GET',
      path: '/held',
      audience: 'page',
      answers: {},
      handle: async () => {
        await held.promise;
        return { body: 'held' };
      },
    },
  ];
  const server = createBareServer(routes, { clock });
  let port: number;

  before(async () => {
    port = await listenOnFreePort(server);
  });
  after(async () => {
    held.resolve();
    await closeWithConnections(server);
  });

  /** The server's side of a connection that asks and does not read. */
  async function ask(path: string): Promise<{ readonly client: Socket; readonly served: Socket }> {
    const connected = once(server.server, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.pause();
    client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [served] = await connected;
    return { client, served };
  }
  const read = (client: Socket, bytes: number) =>
    new Promise<void>((resolve) => {
      let received = 0;
      const take = (piece: Buffer) => {
        received += piece.length;
        if (received < bytes) return;
        client.pause().off('data', take);
        resolve();
      };
      client.on('data', take).resume();
    });
  const hasWaiting = (socket: Socket) => until('bytes wait', () => socket.writableLength > 0);
  /** Looks at all sockets, as often as that many seconds have it. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += slowReaderCheckMs) clock.advance(slowReaderCheckMs);
  };

  it('are disconnected after 30 s without a byte, and within 40 s', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    pass(slowReaderMs - slowReaderCheckMs);
    assert.equal(served.destroyed, false);
    pass(40_000 - (slowReaderMs - slowReaderCheckMs));
    assert.equal(served.destroyed, true);
    client.resume();
    await until('the client sees it', () => client.destroyed);
  });

  it('are disconnected though they read a few bytes now and then', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    for (let passed = 0; passed < 40_000; passed += slowReaderCheckMs) {
      client.read(1);
      pass(slowReaderCheckMs);
    }
    assert.equal(served.destroyed, true);
    client.destroy();
  });

  it('stay where they read 1 KB/s and more, also a part of one large answer', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    for (let round = 0; round < 15; round += 1) {
      // The kernel passes on what it holds before it takes more: enough is read that it takes some.
      await read(client, large.length / 20);
      pass(slowReaderCheckMs);
      assert.equal(served.destroyed, false, `round ${round}`);
    }
    assert.ok(served.writableLength > 0);
    client.destroy();
  });

  it('are disconnected within 40 s after they stopped to read, whatever they took before', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    pass(10_000);
    const before = flushedBytes(served);
    await read(client, large.length / 20);
    await until('the kernel takes more', () => flushedBytes(served) > before);
    pass(40_000);
    assert.equal(served.destroyed, true);
    client.destroy();
  });

  it('stay while nothing waits for them: a long poll, and a connection that is kept', async () => {
    const { client, served } = await ask('/held');
    const other = await ask('/nothing');
    pass(5 * 60_000);
    assert.equal(served.destroyed, false);
    assert.equal(other.served.destroyed, false);
    for (const socket of [client, other.client]) socket.destroy();
  });
});
