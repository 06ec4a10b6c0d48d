import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { attemptFailures, failureOfStatus } from '#contract/attempt-outcome.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import type { DnsAnswer } from '#test/support/webhooks/dns-server.ts';
import { certificate, here, host, outboundSuite, post } from '#test/support/webhooks/outbound.ts';
import { startReceiver } from '#test/support/webhooks/raw-receiver.ts';

describe('failure classes of a receiver (specification section 6.5)', () => {
  const { guard, startKept, withNames } = outboundSuite();

  it('twelve faults of a receiver have twelve classes, and each request is sent only once (§6.5/deadline-and-bounds, §6.5/sent-once, §6.5/failure-classes)', async () => {
    const canary = await startKept();
    const says = (text: string) => (socket: { write: (text: string) => void }) => socket.write(text);
    const closes = (text: string) => (socket: { end: (text: string) => void }) => socket.end(text);
    const answers: Readonly<Record<string, Parameters<typeof startReceiver>[0]>> = {
      http_4xx: { answer: says('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n') },
      http_5xx: { answer: says('HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n') },
      redirect: {
        answer: says(
          `HTTP/1.1 307 There\r\nlocation: http://127.0.0.1:${canary.port}/\r\ncontent-length: 0\r\n\r\n`,
        ),
      },
      timeout: { answer: () => undefined },
      connection_reset: { answer: (socket) => socket.resetAndDestroy() },
      incomplete_answer: { answer: closes('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf') },
      invalid_answer: { answer: says('220 mail.example.com ESMTP\r\n') },
      headers_too_large: { answer: says(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`) },
      tls: { certificate: makeCertificate([host]) },
    };
    const { http } = await withNames((name) => {
      if (name === 'gone.example.com') return 'no such name';
      return name === host ? here : { addresses: ['10.0.0.1'] };
    });
    const classOf = async (url: string, timeoutMs = 20_000) => {
      const outcome = await http.send(post(url, { timeoutMs }));
      return outcome.kind === 'failed' ? outcome.class : failureOfStatus(outcome.status);
    };
    const found: string[] = [];
    for (const [expected, options] of Object.entries(answers)) {
      const receiver = await startKept(options);
      const url = options?.certificate
        ? `https://${host}:${receiver.port}/`
        : `http://127.0.0.1:${receiver.port}/`;
      const failure = await classOf(url, expected === 'timeout' ? 1_000 : 20_000);
      assert.equal(failure, expected);
      assert.equal(receiver.requests.length, expected === 'tls' ? 0 : 1, expected);
      found.push(expected);
    }
    const closed = await startReceiver();
    await closed.close();
    const others = {
      connection_refused: `http://127.0.0.1:${closed.port}/`,
      dns: 'https://gone.example.com/',
      forbidden_address: 'https://inside.example.com/',
    };
    for (const [expected, url] of Object.entries(others)) {
      assert.equal(await classOf(url), expected);
      found.push(expected);
    }
    assert.equal(new Set(found).size, 12);
    for (const name of found) assert.ok(name in attemptFailures, name);
    assert.equal(canary.connections.length, 0);
  });

  const asked: Readonly<Record<string, readonly [string, (socket: Socket) => void]>> = {
    'closed without a byte': ['connection_reset', (socket) => socket.end()],
    'half a line of status': ['incomplete_answer', (socket) => socket.end('HTTP/1.')],
    'half of the headers': ['incomplete_answer', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty')],
    'half a chunk': [
      'incomplete_answer',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nab'),
    ],
    'chunks without the last': [
      'incomplete_answer',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n'),
    ],
    'no size where a chunk has one': [
      'invalid_answer',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    ],
    '101 without an upgrade': [
      'invalid_answer',
      (socket) => socket.write('HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    'HTTP/2': ['invalid_answer', (socket) => socket.write(Buffer.from('000012040000000000', 'hex'))],
  };
  it('half a response, an invalid response and a missing response have different failure classes', async () => {
    const http = guard();
    for (const [name, [expected, answer]] of Object.entries(asked)) {
      const receiver = await startKept({ answer });
      const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/`));
      assert.deepEqual(
        [name, outcome.kind, outcome.kind === 'failed' && outcome.class],
        [name, 'failed', expected],
      );
    }
  });

  it('the close of a connection ends a response without a length, even after interim responses', async () => {
    const http = guard();
    const receiver = await startKept({
      answer: (socket) => socket.end('HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it'),
    });
    const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/`));
    assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
    assert.deepEqual([outcome.status, outcome.body.toString(), outcome.truncated], [200, 'all of it', false]);
  });

  it('a request that cannot be written is classed as an internal fault', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    const outcome = await http.send(
      post(`https://${host}:${receiver.port}/`, { headers: { 'x-name': 'a\r\nx-other: b' } }),
    );
    assert.ok(outcome.kind === 'failed' && outcome.class === 'internal_error', JSON.stringify(outcome));
    assert.deepEqual(receiver.requests, []);
  });

  it('a name server that fails or does not answer is classed as a DNS fault within the deadline (§6.5/deadline-and-bounds)', async () => {
    const answers: Readonly<Record<string, DnsAnswer>> = {
      'fails.example.com': 'server failure',
      'silent.example.com': 'silence',
      'empty.example.com': { addresses: [] },
    };
    const { http } = await withNames((name) => answers[name] ?? here);
    for (const name of Object.keys(answers)) {
      const outcome = await http.send(post(`https://${name}/`, { timeoutMs: 500 }));
      assert.deepEqual([name, outcome.kind === 'failed' && outcome.class], [name, 'dns']);
      assert.ok(outcome.durationMs < 1_000, name);
    }
  });

  it('a request ends at once when its caller aborts it or OutboundHttp is closed', async () => {
    const http = guard();
    const receiver = await startKept({ answer: () => undefined });
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { http: unnamed } = await withNames(() => 'silence');
    const giving = new AbortController();
    const waiting = [
      http.send(post(url, { signal: giving.signal })),
      ...Array.from({ length: 50 }, () => http.send(post(url))),
      unnamed.send(post('https://silent.example.com/')),
    ];
    await until('all are there', () => receiver.requests.length === 51);
    giving.abort();
    const [first] = await Promise.all([waiting[0]]);
    assert.ok(first?.kind === 'failed' && first.class === 'aborted');
    const endedMs = performance.now();
    await Promise.all([http.close(), unnamed.close()]);
    for (const outcome of await Promise.all(waiting))
      assert.ok(outcome.kind === 'failed' && outcome.class === 'aborted');
    assert.ok(performance.now() - endedMs < 1_000);
    await until('no connection is left', () => receiver.open() === 0);
    const late = await http.send(post(url));
    assert.ok(late.kind === 'failed' && late.class === 'aborted');
    const given = await guard().send(post(url, { signal: AbortSignal.abort() }));
    assert.ok(given.kind === 'failed' && given.class === 'aborted');
    assert.equal(receiver.requests.length, 51);
  });
});
