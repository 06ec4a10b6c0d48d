import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { delayedCloseMs, delayedClosesMax, pipelinedRequestsMax } from '#server/http/limits.ts';
import type { Route } from '#server/http/route.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createBareServer, givenListening } from '#test/support/http/bare-http-server.ts';
import { rawExchange } from '#test/support/http/raw-http.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';

const largeBytes = 8 * 1_024 * 1_024;
/** Greatest number of bytes that the server may read: two reads of 64 KB, one with the head and one of the body. */
const readBytesMax = 128 * 1_024;

describe('refused requests with a large body', () => {
  // This clock stands still between its moves, however slow the machine is.
  const clock = new Clock();
  let passedMs = 0;
  clock.elapsedMs = () => passedMs;
  const passDelay = () => {
    passedMs += delayedCloseMs;
    clock.advance(delayedCloseMs);
  };
  const handle: Route['handle'] = async () => ({ body: {} });
  const routes: readonly Route[] = [
    { method: 'POST', path: '/refused', audience: 'team', answers: {}, handle },
    { method: 'POST', path: '/known', audience: 'api', answers: {}, handle },
    { method: 'GET', path: '/page', audience: 'page', answers: {}, handle: async () => ({ body: 'page' }) },
  ];
  const server = createBareServer(routes, {
    clock,
    authenticators: {
      team: async () => {
        throw new AppError('unauthorized', 'Sign in.');
      },
      api: async () => ({ principal: { kind: 'key', teamId: 'team' as TeamId, scopes: [] } as never }),
    },
  });
  const bound = givenListening(server);

  interface Connection {
    readonly client: Socket;
    /** The server's side of the connection. */
    readonly served: Socket;
    readonly answers: () => string;
    readonly closed: Promise<unknown>;
  }

  async function open(): Promise<Connection> {
    const accepted = once(server.server, 'connection') as Promise<[Socket]>;
    const client = connect({ port: bound.port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    const pieces: Buffer[] = [];
    client.on('data', (piece: Buffer) => pieces.push(piece));
    const [served] = await accepted;
    return {
      client,
      served,
      answers: () => Buffer.concat(pieces).toString(),
      closed: once(served, 'close'),
    };
  }
  const head = (request: string, ...headers: string[]) =>
    [`${request} HTTP/1.1`, 'host: a', 'content-type: application/json', ...headers, '', ''].join('\r\n');
  const isAnswered = (connection: Connection, status: number) => () =>
    connection.answers().startsWith(`HTTP/1.1 ${status}`);

  /** Sends a request with a large body, as fast as the server reads it. */
  async function writeLarge(request: string, status: number): Promise<Connection> {
    const connection = await open();
    connection.client.write(head(request, `content-length: ${largeBytes}`));
    connection.client.write(Buffer.alloc(largeBytes, 'a'));
    await until('it is answered', isAnswered(connection, status));
    return connection;
  }

  it('a request refused before its large body is answered without reading it, and disconnected 2 s later', async () => {
    for (const [request, status] of [
      ['POST /refused', 401],
      ['POST /nothing', 413],
      ['GET /page', 200],
    ] as const) {
      const connection = await writeLarge(request, status);
      assert.match(connection.answers(), /^connection: close\r$/m);
      await until('the server has ended its side', () => connection.served.writableFinished);
      assert.ok(connection.served.bytesRead <= readBytesMax, `${request}: ${connection.served.bytesRead}`);
      assert.equal(connection.served.destroyed, false);
      passDelay();
      await connection.closed;
      assert.ok(connection.served.bytesRead <= readBytesMax, `${request}: ${connection.served.bytesRead}`);
    }
  });

  it('a refused request with a chunked body is also answered, and disconnected 2 s later', async () => {
    const connection = await open();
    connection.client.write(head('POST /refused', 'transfer-encoding: chunked'));
    connection.client.write(
      Buffer.concat([Buffer.from(`${largeBytes.toString(16)}\r\n`), Buffer.alloc(largeBytes, 'a')]),
    );
    await until('it is answered', isAnswered(connection, 401));
    await until('the server has ended its side', () => connection.served.writableFinished);
    passDelay();
    await connection.closed;
    assert.ok(connection.served.bytesRead <= readBytesMax, `${connection.served.bytesRead}`);
  });

  it('only a bounded number of refused connections wait to be closed', async () => {
    const opened: Connection[] = [];
    while (opened.length < delayedClosesMax + 20) {
      const connection = await open();
      connection.client.write(head('POST /refused', `content-length: ${largeBytes}`));
      opened.push(connection);
    }
    await Promise.all(opened.map((one) => until('it is answered', isAnswered(one, 401))));
    await until('20 are closed', () => opened.filter(({ served }) => served.destroyed).length === 20);
    passDelay();
    await Promise.all(opened.map(({ closed }) => closed));
  });

  it('a connection stays open if at most 64 KB of a refused body are unread', async () => {
    const connection = await open();
    const body = Buffer.alloc(60 * 1_024, 'a');
    for (let n = 1; n <= 2; n += 1) {
      connection.client.write(head('POST /refused', `content-length: ${body.length}`));
      connection.client.write(body);
      await until('it is answered', () => connection.answers().split('HTTP/1.1 401').length === n + 1);
    }
    connection.client.destroy();
    await connection.closed;
  });

  it('the too large body of a valid credential is read to its end, so that the response arrives', async () => {
    const connection = await writeLarge('POST /known', 413);
    await until('all of it is read', () => connection.served.bytesRead > largeBytes);
    connection.client.write(head('GET /page'));
    await until('it serves on', () => connection.answers().includes('HTTP/1.1 200'));
    connection.client.destroy();
    await connection.closed;
  });
});

describe('pipelined requests', () => {
  let running = 0;
  let most = 0;
  let served: string[] = [];
  const server = createBareServer([
    {
      method: 'GET',
      path: '/numbered/:id',
      audience: 'page',
      answers: {},
      handle: async ({ params: { id = '' } }) => {
        running += 1;
        most = Math.max(most, running);
        served.push(id);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { body: id };
      },
    },
  ]);
  let address: string;

  before(async () => {
    address = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => server.close());

  const pipeline = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => String(n));
    const requests = ids.map((id) => {
      const connection = Number(id) === count - 1 ? 'close' : 'keep-alive';
      return `GET /numbered/${id} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
    });
    return { ids, bytes: requests.join('') };
  };

  it('pipelined requests of a connection are served one after the other, in their order', async () => {
    const { ids, bytes } = pipeline(pipelinedRequestsMax);
    const answers = await rawExchange(address, bytes);
    assertEach(answers, ({ body }) => body, ids);
    assert.deepEqual(served, ids);
    assert.equal(most, 1);
  });

  it('a connection with too many pipelined requests is ended', async () => {
    served = [];
    await assert.rejects(rawExchange(address, pipeline(1_000).bytes));
    assert.ok(served.length <= 1, `${served.length} were served`);
  });
});
