import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { until } from '#test/support/service/until.ts';
import { outboundSuite, post } from '#test/support/webhooks/outbound.ts';
import { ok } from '#test/support/webhooks/raw-receiver.ts';

describe('the bound of response bodies (specification section 6.5)', () => {
  const { guard, startKept } = outboundSuite();

  it('16 KB of a response body are kept, and the rest of a longer body is not read (§6.5/deadline-and-bounds)', async () => {
    const http = guard();
    const receiver = await startKept({
      answer: (socket, request) => {
        const length = Number(/\/(\d+)/.exec(request)?.[1]);
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(Math.min(length, 100_000))}`,
        );
      },
    });
    for (const [length, kept, truncated] of [
      [0, 0, false],
      [16_383, 16_383, false],
      [16_384, 16_384, false],
      [16_385, 16_384, true],
      [1_000_000_000, 16_384, true],
    ] as const) {
      const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/${length}`));
      assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
      assert.deepEqual([outcome.body.length, outcome.truncated], [kept, truncated]);
    }
    await until('what went on is closed', () => receiver.open() <= 1);
    assert.equal(receiver.connections.length, 2);
  });

  it('a compressed body is not inflated (§6.5/deadline-and-bounds)', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const receiver = await startKept({
      answer: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.write(bomb);
      },
    });
    const outcome = await guard().send(post(`http://127.0.0.1:${receiver.port}/`));
    assert.ok(outcome.kind === 'answered' && outcome.body.equals(bomb), JSON.stringify(outcome));
  });

  it('a second response to one request is not used as the response to the next request', async () => {
    const receiver = await startKept({
      answer: (socket, request) => {
        ok(socket);
        if (request.includes('/first')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged');
      },
    });
    const http = guard();
    const url = `http://127.0.0.1:${receiver.port}`;
    assert.equal((await http.send(post(`${url}/first`))).kind, 'answered');
    const next = await http.send(post(`${url}/next`));
    assert.ok(next.kind === 'failed' || next.body.toString() === 'ok', JSON.stringify(next));
  });
});
