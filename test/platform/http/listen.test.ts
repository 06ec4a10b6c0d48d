import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { closeServer } from '#server/http/close-server.ts';
import { listen } from '#server/http/listen.ts';
import { createBareServer } from '#test/support/http/bare-http-server.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

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

  it('a port can’t be shared with another process, whichever process starts first', async () => {
    const [first, second, port] = [newServer(), newServer(), await freePort()];
    await listen(first, { host, port });
    try {
      await assert.rejects(listen(second, { host, port }), { code: 'EADDRINUSE' });
    } finally {
      await Promise.all([closeServer(first), closeServer(second)]);
    }
  });
});
