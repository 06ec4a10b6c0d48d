import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { FastifyInstance } from 'fastify';
import { closeServer } from '#server/http/close-server.ts';
import { listen } from '#server/http/listen.ts';
import type { Route } from '#server/http/route.ts';
import { AppError } from '#server/platform/app-error.ts';
import { createBareServer, listenOnFreePort } from '#test/support/http/bare-http-server.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const clients = 20;

/**
 * Runs in a thread: sends a request on each of `clients` kept connections, and waits until the test's thread is
 * blocked. Then it sends a second request on each connection and a first one on as many new connections, and wakes the
 * test's thread.
 */
const askInThread = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, clients, state } } = require('node:worker_threads');
  const request = 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n';
  const open = () => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.answers = 0;
    socket.on('data', (data) => { socket.answers += String(data).split('HTTP/1.1 200').length - 1; });
    socket.on('error', () => undefined);
    socket.ended = new Promise((over) => socket.on('close', over));
  });
  const openAll = () => Promise.all(Array.from({ length: clients }, open));
  const write = (socket) => new Promise((written) => socket.write(request, written));
  (async () => {
    const kept = await openAll();
    await Promise.all(kept.map(write));
    while (kept.some((socket) => socket.answers < 1)) await new Promise(setImmediate);
    parentPort.postMessage('kept');
    Atomics.wait(state, 0, 0);
    const fresh = await openAll();
    await Promise.all([...kept, ...fresh].map(write));
    Atomics.store(state, 0, 2);
    Atomics.notify(state, 0);
    await Promise.all([...kept, ...fresh].map((socket) => socket.ended));
    parentPort.postMessage({
      kept: kept.filter((socket) => socket.answers === 2).length,
      fresh: fresh.filter((socket) => socket.answers === 1).length,
    });
  })();
`;

const page = { method: 'GET', audience: 'page', answers: {} } as const;

async function serve(routes: readonly Route[]): Promise<{ server: FastifyInstance; port: number }> {
  const server = createBareServer(routes, {
    authenticators: {
      api: () => {
        throw new AppError('forbidden', 'This key may not do that.');
      },
    },
  });
  return { server, port: await listenOnFreePort(server) };
}

/** Connects a client that writes `text`. Resolves once the server has read all of it. */
async function write(server: FastifyInstance, port: number, text: string): Promise<Client> {
  const connected = once(server.server, 'connection') as Promise<[Socket]>;
  const client = new Client(port);
  client.socket.write(text);
  const [served] = await connected;
  await until('the server has read it', () => served.bytesRead === text.length);
  return client;
}

class Client {
  readonly socket: Socket;
  readonly ended: Promise<void>;
  received = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (piece) => {
      this.received += piece;
    });
    this.socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.socket.on('close', () => resolve()));
  }
}

describe('the stop of the HTTP server (specification section 10.3)', () => {
  it('a stopping server answers every request that had reached the machine, on new and on kept connections', async () => {
    const { server, port } = await serve([{ ...page, path: '/', handle: async () => ({ body: 'ok' }) }]);
    const state = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(askInThread, {
      eval: true,
      workerData: { port, clients, state },
    });
    const heard = () => new Promise((resolve) => worker.once('message', resolve));
    await heard();
    const answered = heard();
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    // This thread stands still, as under load: the server neither accepts nor reads the requests that arrive now.
    Atomics.wait(state, 0, 1);
    await closeServer(server);
    assert.deepEqual(await answered, { kept: clients, fresh: clients });
    await worker.terminate();
  });

  const unfinished = {
    'no end of headers': 'GET / HTTP/1.1\r\nHost: a\r\n',
    'a body that is not complete':
      'POST /refused HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  };
  for (const [name, text] of Object.entries(unfinished)) {
    it(`a request with ${name} does not delay the stop, and is not disconnected before other requests are answered`, async () => {
      const begun = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      const { server, port } = await serve([
        {
          ...page,
          path: '/held',
          handle: async () => {
            begun.resolve();
            await finish.promise;
            return { body: 'held' };
          },
        },
        { ...page, method: 'POST', path: '/refused', audience: 'api', handle: async () => ({ body: {} }) },
      ]);
      const stranger = await write(server, port, text);
      const order: string[] = [];
      stranger.socket.on('close', () => order.push('stranger'));
      const held = new Client(port);
      held.socket.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
      await begun.promise;
      const closed = closeServer(server, 1);
      // If the server closes the stranger's connection too early, it does so in these iterations of the event loop.
      for (let round = 0; round < 1_000; round += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(order.length, 0);
      held.socket.on('close', () => order.push('held'));
      finish.resolve();
      await closed;
      await Promise.all([stranger.ended, held.ended]);
      assert.deepEqual(order.toSorted(), ['held', 'stranger']);
      assert.match(held.received, /^HTTP\/1\.1 200 /);
      assert.equal(held.received.slice(-4), 'held');
    });
  }

  it('a client that does not read its response does not delay the stop', async () => {
    const large = Buffer.alloc(32 * 1_024 * 1_024, 'a');
    const { server, port } = await serve([
      { ...page, path: '/large', handle: async () => ({ body: large }) },
    ]);
    const client = new Client(port);
    client.socket.pause();
    client.socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('bytes wait', () => [...server.openSockets].some(({ writableLength }) => writableLength > 0));
    await closeServer(server, 1);
    assert.ok([...server.openSockets].every(({ destroyed }) => destroyed));
    client.socket.destroy();
  });

  it('a client that reads its response during the stop gets the whole response', async () => {
    const large = Buffer.alloc(32 * 1_024 * 1_024, 'a');
    const { server, port } = await serve([
      { ...page, path: '/large', handle: async () => ({ body: large }) },
    ]);
    const client = new Client(port);
    client.socket.pause();
    client.socket.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await until('bytes wait', () => [...server.openSockets].some(({ writableLength }) => writableLength > 0));
    const closed = closeServer(server, 1);
    client.socket.resume();
    await Promise.all([closed, client.ended]);
    assert.equal(client.received.length - client.received.indexOf('\r\n\r\n') - 4, large.length);
  });
});

const host = '127.0.0.1';
const connections = 64;

const newServer = () =>
  createBareServer([
    { method: 'GET', path: '/page', audience: 'page', answers: {}, handle: async () => ({ body: 'page' }) },
  ]);

describe('the listening sockets of a process (specification section 7.2)', () => {
  it('a socket accepts many connections in each iteration of the event loop, and all of them are served', async () => {
    const [server, port] = [newServer(), await freePort()];
    assert.equal(await listen(server, { host, port }), `http://${host}:${port}`);
    let [accepted, iterations] = [0, 0];
    server.server.on('connection', () => {
      accepted += 1;
    });
    // The kernel completes the connections at once; the server accepts them only when this thread is free.
    const clients = Array.from({ length: connections }, () => connect(port, host));
    while (accepted < connections) {
      await new Promise((resolve) => setImmediate(resolve));
      iterations += 1;
    }
    assert.ok(iterations <= connections / 2, `${iterations} iterations for ${connections} connections`);
    let answers = 0;
    for (const client of clients) {
      client.on('data', (data) => {
        if (data.toString().startsWith('HTTP/1.1 200')) answers += 1;
      });
      client.write('GET /page HTTP/1.1\r\nHost: a\r\n\r\n');
    }
    await until('all are answered', () => answers === connections);
    const closed = Promise.all(clients.map((client) => once(client, 'close')));
    await closeServer(server);
    await closed;
    const refused = connect(port, host);
    const [error] = await once(refused, 'error');
    assert.equal(error.code, 'ECONNREFUSED');
  });

  it('a port is not shared with another process, in either order of the starts', async () => {
    const [first, second, port] = [newServer(), newServer(), await freePort()];
    await listen(first, { host, port });
    try {
      await assert.rejects(listen(second, { host, port }), { code: 'EADDRINUSE' });
    } finally {
      await Promise.all([closeServer(first), closeServer(second)]);
    }
  });
});
