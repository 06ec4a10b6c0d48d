import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { EventStream, formatEvent } from '#server/http/event-stream.ts';
import type { Route } from '#server/http/route.ts';
import { createBareServer, givenListening } from '#test/support/http/bare-http-server.ts';
import { until } from '#test/support/service/until.ts';

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

  it('an event is sent at once, with one data line whatever it contains', async () => {
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

  it('the stream calls a function when its client disconnects', async () => {
    const { client } = await open();
    const before = closed;
    client.destroy();
    await until('it is closed', () => closed === before + 1);
  });
});
