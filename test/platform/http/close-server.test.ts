import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { fastify } from 'fastify';
import { closeServer } from '#server/platform/http/close-server.ts';

const clients = 20;

/**
 * In a thread of its own: one request on each of `clients` kept connections; then, once this thread stands still, a second
 * one on each and a first one on as many new connections. It wakes this thread when all of them have been written.
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

describe('the end of the HTTP server (specification section 10.3)', () => {
  it('answers every request that had reached the machine, on new connections and on kept ones', async () => {
    const server = fastify({ forceCloseConnections: 'idle', keepAliveTimeout: 75_000 });
    server.get('/', async () => 'ok');
    await server.listen({ host: '127.0.0.1', port: 0 });
    const address = server.server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const state = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(askInThread, {
      eval: true,
      workerData: { port: address.port, clients, state },
    });
    const heard = () => new Promise((resolve) => worker.once('message', resolve));
    await heard();
    const answered = heard();
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
    // The event loop stands still, as it does under load: nothing of what now comes is accepted or read.
    Atomics.wait(state, 0, 1);
    await closeServer(server);
    assert.deepEqual(await answered, { kept: clients, fresh: clients });
    await worker.terminate();
  });
});
