import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { BodySink } from '#server/platform/outbound-http/response-reader.ts';
import { answerOf, unboundedAnswer } from '#test/support/media/media-host.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';
import { certificate, here, host, outboundSuite } from '#test/support/webhooks/outbound.ts';

const get = (url: string, more: object = {}) =>
  ({ url, method: 'GET', headers: {}, timeoutMs: 10_000, ...more }) as const;

/** A sink that keeps its bytes, and accepts none while the test holds it. */
function keepingSink(takesMax = Number.POSITIVE_INFINITY) {
  const taken: Buffer[] = [];
  let hold = Promise.resolve();
  const sink: BodySink = {
    begin: () => true,
    write: async (bytes) => {
      await hold;
      taken.push(Buffer.from(bytes));
      return Buffer.concat(taken).length < takesMax;
    },
  };
  return {
    sink,
    bytes: () => Buffer.concat(taken),
    holdUntil: (released: Promise<void>) => {
      hold = released;
    },
  };
}

const large = Buffer.alloc(3_000_000, 'abcdefgh');

describe('streamed response bodies (decision 0015)', () => {
  const { guard, startKept } = outboundSuite();

  for (const [what, answer] of [
    ['with a length', answerOf(200, large)],
    ['that ends with its connection', unboundedAnswer(large)],
  ] as const) {
    it(`a streamed body ${what} arrives whole and in order, even if its sink is slow`, async () => {
      const receiver = await startKept({ answer });
      const { sink, bytes, holdUntil } = keepingSink();
      const released = Promise.withResolvers<void>();
      holdUntil(released.promise);
      const sent = guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink }));
      await until('the answer has begun', () => receiver.requests.length === 1);
      released.resolve();
      const outcome = await sent;
      assert.equal(outcome.kind, 'answered');
      assert.ok(bytes().equals(large));
    });
  }

  it('a host that sends nothing times out, before its first byte or later, and a slow host does not', async () => {
    const begin = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';
    const drip = (socket: Socket) => {
      socket.write(begin);
      let left = 10;
      const timer = setInterval(() => {
        socket.write('x');
        left -= 1;
        if (left === 0) clearInterval(timer);
      }, 150);
    };
    const outcomes = [];
    for (const answer of [() => undefined, (socket: Socket) => void socket.write(`${begin}x`), drip]) {
      const receiver = await startKept({ answer });
      const { sink } = keepingSink();
      outcomes.push(
        await guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink, silenceMs: 1_000 })),
      );
    }
    assertEach(outcomes, (outcome) => (outcome.kind === 'failed' ? outcome.class : outcome.status), [
      'timeout',
      'timeout',
      200,
    ]);
    assert.ok(outcomes.slice(0, 2).every(({ durationMs }) => durationMs >= 900 && durationMs < 8_000));
    assert.ok((outcomes[2]?.durationMs ?? 0) > 1_200, 'it took longer than the time-out for silence');
  });

  it('only a few buffers are read while the sink accepts no bytes', async () => {
    let written = 0;
    const receiver = await startKept({
      answer: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
        const more = () => {
          while (socket.write(Buffer.alloc(65_536))) written += 65_536;
        };
        socket.on('drain', more);
        more();
      },
    });
    const { sink, holdUntil } = keepingSink();
    holdUntil(new Promise(() => undefined));
    const outcome = await guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink, timeoutMs: 1_500 }));
    assert.equal(outcome.kind === 'failed' && outcome.class, 'timeout', 'its deadline holds all the same');
    assert.ok(written < 30_000_000, `${written} bytes were taken by the sockets`);
  });

  it('the connection is closed once the sink accepts no more bytes', async () => {
    const receiver = await startKept({ answer: answerOf(200, large) });
    const { sink, bytes } = keepingSink(500_000);
    const outcome = await guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink }));
    assert.equal(outcome.kind === 'answered' && outcome.truncated, true);
    assert.ok(bytes().length < 1_000_000);
    await until('it is closed', () => receiver.open() === 0);
  });

  it('a body is not streamed if the sink refuses it or its status is 404, and compressed bodies are not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const receiver = await startKept({ answer: answerOf(200, bomb, { 'content-encoding': 'gzip' }) });
    const compressed = keepingSink();
    await guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink: compressed.sink }));
    assert.ok(compressed.bytes().equals(bomb));
    const refusing = keepingSink();
    const sink = { ...refusing.sink, begin: () => false };
    await guard().send(get(`http://127.0.0.1:${receiver.port}/`, { sink }));
    const missing = await startKept({ answer: answerOf(404, Buffer.from('gone')) });
    const outcome = await guard().send(get(`http://127.0.0.1:${missing.port}/`, { sink: refusing.sink }));
    assert.equal(outcome.kind === 'answered' && outcome.body.toString(), 'gone');
    assert.equal(refusing.bytes().length, 0);
  });
});

describe('redirects of outgoing requests (§3.2/media-redirects, §6.5/deadline-and-bounds)', () => {
  const { guard, startKept, withNames } = outboundSuite();
  const to = (location: string) => answerOf(302, Buffer.alloc(0), { location });

  it('a redirect is followed only if the caller allows some', async () => {
    const end = await startKept();
    const start = await startKept({ answer: to(`http://127.0.0.1:${end.port}/`) });
    const outcome = await guard().send(get(`http://127.0.0.1:${start.port}/`));
    assert.equal(outcome.kind === 'answered' && outcome.status, 302);
    assert.equal(end.requests.length, 0);
  });

  it('a redirect from https may lead to https only, whatever addresses are allowed', async () => {
    const plain = await startKept();
    const secure = await startKept({ certificate });
    const start = await startKept({
      certificate,
      answer: (socket, request) =>
        to(
          request.startsWith('GET /down')
            ? `http://127.0.0.1:${plain.port}/`
            : `https://other.example.com:${secure.port}/`,
        )(socket, request),
    });
    const { http } = await withNames(() => here);
    const send = (path: string) =>
      http.send(get(`https://${host}:${start.port}${path}`, { redirectsMax: 3 }));
    const down = await send('/down');
    assert.equal(down.kind === 'failed' && down.class, 'forbidden_address');
    assert.equal(plain.requests.length, 0);
    const across = await send('/across');
    assert.equal(across.kind === 'answered' && across.status, 200);
    assert.match(secure.requests[0] ?? '', /host: other\.example\.com/i);
  });

  it('each redirect passes the SSRF guard again, so a redirect to an internal address opens no connection', async () => {
    const { dns, http } = await withNames((name) =>
      name === host ? here : { addresses: ['10.0.0.1'], ttlSeconds: 1 },
    );
    const start = await startKept({ certificate, answer: to('https://other.example.com/') });
    const outcome = await http.send(get(`https://${host}:${start.port}/`, { redirectsMax: 3 }));
    assert.equal(outcome.kind === 'failed' && outcome.class, 'forbidden_address');
    assert.ok(dns);
  });

  it('one deadline covers a request with all its redirects', async () => {
    const slow = await startKept({ answer: () => undefined });
    const start = await startKept({ answer: to(`http://127.0.0.1:${slow.port}/`) });
    const outcome = await guard().send(
      get(`http://127.0.0.1:${start.port}/`, { redirectsMax: 1, timeoutMs: 700 }),
    );
    assert.equal(outcome.kind === 'failed' && outcome.class, 'timeout');
    assert.ok(outcome.durationMs < 5_000);
  });
});
