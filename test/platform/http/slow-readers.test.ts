import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { EventStream, formatEvent } from '#server/http/event-stream.ts';
import { slowReaderCheckMs, slowReaderMs } from '#server/http/limits.ts';
import type { Route } from '#server/http/route.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createBareServer, givenListening } from '#test/support/http/bare-http-server.ts';
import { until } from '#test/support/service/until.ts';

/** More bytes than the kernel buffers on both sides, so that some wait in this process. */
const large = Buffer.alloc(32 * 1_024 * 1_024, 'a');

describe('slow readers', () => {
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
  after(() => held.resolve());
  const bound = givenListening(server);

  /** Sends a request and does not read the answer. @returns the sockets of both sides */
  async function ask(path: string): Promise<{ readonly client: Socket; readonly served: Socket }> {
    const connected = once(server.server, 'connection') as Promise<[Socket]>;
    const client = connect(bound.port, '127.0.0.1');
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
  /** Moves the clock in steps of the interval at which the server checks its sockets. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += slowReaderCheckMs) clock.advance(slowReaderCheckMs);
  };

  it('a client that reads no byte for 30 s is disconnected within 40 s', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    pass(slowReaderMs - slowReaderCheckMs);
    assert.equal(served.destroyed, false);
    pass(40_000 - (slowReaderMs - slowReaderCheckMs));
    assert.equal(served.destroyed, true);
    client.resume();
    await until('the client sees it', () => client.destroyed);
  });

  it('a client that reads a few bytes now and then is disconnected (§7.2/slow-readers)', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    for (let passed = 0; passed < 40_000; passed += slowReaderCheckMs) {
      client.read(1);
      pass(slowReaderCheckMs);
    }
    assert.equal(served.destroyed, true);
    client.destroy();
  });

  it('a client that reads 1 KB/s or more stays connected, even during one large answer (§7.2/slow-readers)', async () => {
    const { client, served } = await ask('/large');
    await hasWaiting(served);
    for (let round = 0; round < 15; round += 1) {
      // The kernel takes bytes only after enough of its buffer was read.
      await read(client, large.length / 20);
      pass(slowReaderCheckMs);
      assert.equal(served.destroyed, false, `round ${round}`);
    }
    assert.ok(served.writableLength > 0);
    client.destroy();
  });

  it('a client for which no bytes wait stays connected, in a long poll or on a kept connection', async () => {
    const { client, served } = await ask('/held');
    const other = await ask('/nothing');
    pass(5 * 60_000);
    assert.equal(served.destroyed, false);
    assert.equal(other.served.destroyed, false);
    for (const socket of [client, other.client]) socket.destroy();
  });
});

const bufferMaxBytes = 256 * 1_024;
/** More writes than the kernel buffers for a connection on both sides. */
const writesMax = 2_000;

describe('streams of server-sent events', () => {
  const streams: EventStream[] = [];
  let closed = 0;
  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/stream',
      audience: 'page',
      answers: {},
      handle: async ({ reply }) => {
        const stream = new EventStream(reply, bufferMaxBytes);
        stream.onClose(() => {
          closed += 1;
        });
        streams.push(stream);
        return { body: '' };
      },
    },
  ];
  const server = createBareServer(routes);
  const bound = givenListening(server);

  async function open(): Promise<{ readonly client: Socket; readonly stream: EventStream }> {
    const client = connect(bound.port, '127.0.0.1');
    client.on('error', () => {});
    client.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const before = streams.length;
    const stream = await until('the stream is open', () => streams[before]);
    return { client, stream };
  }

  it('an event is sent at once, in one line of data whatever it contains', async () => {
    const { client, stream } = await open();
    let text = '';
    client.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    stream.write(formatEvent('rows', { content: 'one\n\ntwo\r\nevent: ended' }));
    await until('it came', () =>
      text.includes('event: rows\ndata: {"content":"one\\n\\ntwo\\r\\nevent: ended"}\n\n'),
    );
    stream.end();
    await until('the answer has its end', () => text.endsWith('0\r\n\r\n'));
    assert.equal(stream.write(formatEvent('rows', {})), true, 'a later write is dropped');
    client.destroy();
  });

  it('a client that leaves more than the bound unread is disconnected', async () => {
    const { client, stream } = await open();
    client.pause();
    const before = closed;
    const event = formatEvent('rows', 'x'.repeat(64 * 1_024));
    let writes = 0;
    while (writes < writesMax && stream.write(event)) {
      writes += 1;
      if (writes % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(writes >= 3, 'what fits is written');
    assert.ok(writes < writesMax, 'it was disconnected');
    await until('the stream is closed', () => closed === before + 1);
    client.destroy();
  });

  it('the stream calls back when the client leaves', async () => {
    const { client } = await open();
    const before = closed;
    client.destroy();
    await until('it is closed', () => closed === before + 1);
  });
});
