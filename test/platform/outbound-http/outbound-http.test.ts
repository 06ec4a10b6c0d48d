import assert from 'node:assert/strict';
import { scrypt } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { attemptFailures, failureOfStatus } from '#contract/attempt-outcome.ts';
import { parseAddressRange } from '#server/platform/ip-address.ts';
import {
  OutboundHttp,
  type OutboundHttpOptions,
  type OutboundRequest,
} from '#server/platform/outbound-http/outbound-http.ts';
import { makeCertificate } from '#test/support/certificate.ts';
import { type DnsAnswer, startDnsServer } from '#test/support/dns-server.ts';
import { ok, startReceiver } from '#test/support/receiver.ts';
import { until } from '#test/support/until.ts';

const host = 'receiver.example.com';
const certificate = makeCertificate([host, 'other.example.com']);
const ranges = (...texts: readonly string[]) => texts.flatMap((text) => parseAddressRange(text) ?? []);

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});
/** Closed when the tests are over. */
function kept<T extends { close: () => unknown }>(opened: T): T {
  closing.push(() => opened.close());
  return opened;
}

const startKept = async (...options: Parameters<typeof startReceiver>) =>
  kept(await startReceiver(...options));

const guard = (options: Partial<OutboundHttpOptions> = {}) =>
  kept(new OutboundHttp({ allowed: ranges('127.0.0.1'), authorities: [certificate.cert], ...options }));

const body = Buffer.from('{"content":"👋"}');
const post = (url: string, options: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
  timeoutMs: 20_000,
  ...options,
});

/** A guard whose names are answered by the script. */
async function withNames(answer: (name: string) => DnsAnswer, options: Partial<OutboundHttpOptions> = {}) {
  const dns = kept(await startDnsServer(answer));
  return { dns, http: guard({ nameServers: [dns.address], ...options }) };
}
const here: DnsAnswer = { addresses: ['127.0.0.1'], ttlSeconds: 300 };

describe('a request that goes out (specification section 6.5)', () => {
  it('carries the bytes and headers that it was given, under the name of the URL, and brings the answer back', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    const outcome = await http.send(post(`https://${host}.:${receiver.port}/a?b=c#d`));
    assert.ok(outcome.did === 'answered', JSON.stringify(outcome));
    const { status, headers, truncated, address, durationMs } = outcome;
    assert.deepEqual(
      [status, headers['content-type'], outcome.body.toString(), truncated, address],
      [200, 'text/plain', 'ok', false, '127.0.0.1'],
    );
    assert.ok(durationMs > 0 && durationMs < 20_000);
    assert.equal(
      receiver.requests[0],
      `POST /a?b=c HTTP/1.1\r\nhost: ${host}:${receiver.port}\r\nconnection: keep-alive\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    );
  });

  it('takes the connection of the one before, and asks DNS once for as long as the answer is good', async () => {
    const receiver = await startKept({ certificate });
    const { http, dns } = await withNames(() => here);
    for (let n = 0; n < 20; n += 1) {
      const outcome = await http.send(post(`https://${host}:${receiver.port}/${n}`));
      assert.equal(outcome.did, 'answered');
    }
    assert.equal(receiver.requests.length, 20);
    assert.equal(receiver.connections.length, 1);
    assert.deepEqual([...dns.questions].sort(), [`A ${host}`, `AAAA ${host}`]);
  });

  it('many at once ask DNS once, and each has a connection of its own', async () => {
    const receiver = await startKept({ certificate });
    const { http, dns } = await withNames(() => ({ addresses: ['127.0.0.1'], ttlSeconds: 0 }));
    const url = `https://${host}:${receiver.port}/`;
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => http.send(post(url))));
    assert.ok(outcomes.every(({ did }) => did === 'answered'));
    assert.equal(receiver.connections.length, 50);
    assert.equal(dns.questions.length, 2);
    await http.send(post(url));
    assert.equal(dns.questions.length, 4, 'an answer without a TTL is not kept');
  });

  it('one name is never served over the connection of another, though both lead to one address', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    for (const name of [host, 'other.example.com', host]) {
      assert.equal((await http.send(post(`https://${name}:${receiver.port}/`))).did, 'answered');
    }
    assert.equal(receiver.connections.length, 2);
  });

  it('a receiver that closes kept connections without a word fails one request, not every second', async () => {
    const receiver = await startKept({
      answer: (socket) => {
        ok(socket);
        socket.end();
      },
    });
    const http = guard();
    const failures: string[] = [];
    for (let n = 0; n < 100; n += 1) {
      const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/`));
      if (outcome.did === 'failed') failures.push(outcome.class);
    }
    assert.ok(failures.length <= 1, failures.join());
  });

  it('tries the next address of a name where nobody listens at the first', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => ({ addresses: ['127.0.0.2', '127.0.0.1'], ttlSeconds: 60 }), {
      allowed: ranges('127.0.0.0/8'),
    });
    const outcome = await http.send(post(`https://${host}:${receiver.port}/`));
    assert.deepEqual([outcome.did, outcome.address], ['answered', '127.0.0.1']);
  });

  it('DNS is answered while every thread of the pool is busy, as with password hashing', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    let working = 8;
    const works = Array.from({ length: working }, async () => {
      await new Promise((resolve) =>
        scrypt('x', 'y', 32, { N: 65_536, r: 8, p: 1, maxmem: 2 ** 28 }, resolve),
      );
      working -= 1;
    });
    const outcome = await http.send(post(`https://${host}:${receiver.port}/`));
    const stillWorking = working;
    await Promise.all(works);
    assert.deepEqual([outcome.did, stillWorking > 0], ['answered', true]);
  });
});

describe('every fault of a receiver is a value with a class of its own (specification section 6.5)', () => {
  it('twelve faults, twelve classes; where a redirect leads is never reached, and each is sent once', async () => {
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
      return outcome.did === 'failed' ? outcome.class : failureOfStatus(outcome.status);
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
    '101 that nobody asked for': [
      'invalid_answer',
      (socket) => socket.write('HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ],
    'HTTP/2': ['invalid_answer', (socket) => socket.write(Buffer.from('000012040000000000', 'hex'))],
  };
  it('half an answer, one that is none and one without a word are told apart', async () => {
    const http = guard();
    for (const [name, [expected, answer]] of Object.entries(asked)) {
      const receiver = await startKept({ answer });
      const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/`));
      assert.deepEqual(
        [name, outcome.did, outcome.did === 'failed' && outcome.class],
        [name, 'failed', expected],
      );
    }
  });

  it('an end of the connection ends an answer that named no length; 1xx comes before one', async () => {
    const http = guard();
    const receiver = await startKept({
      answer: (socket) => socket.end('HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it'),
    });
    const outcome = await http.send(post(`http://127.0.0.1:${receiver.port}/`));
    assert.ok(outcome.did === 'answered', JSON.stringify(outcome));
    assert.deepEqual([outcome.status, outcome.body.toString(), outcome.truncated], [200, 'all of it', false]);
  });

  it('a request that cannot be written is a fault of our own', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    const outcome = await http.send(
      post(`https://${host}:${receiver.port}/`, { headers: { 'x-name': 'a\r\nx-other: b' } }),
    );
    assert.ok(outcome.did === 'failed' && outcome.class === 'internal_error', JSON.stringify(outcome));
    assert.deepEqual(receiver.requests, []);
  });

  it('a name server that fails or says nothing is a fault of DNS, within the deadline', async () => {
    const answers: Readonly<Record<string, DnsAnswer>> = {
      'fails.example.com': 'server failure',
      'silent.example.com': 'silence',
      'empty.example.com': { addresses: [] },
    };
    const { http } = await withNames((name) => answers[name] ?? here);
    for (const name of Object.keys(answers)) {
      const outcome = await http.send(post(`https://${name}/`, { timeoutMs: 500 }));
      assert.deepEqual([name, outcome.did === 'failed' && outcome.class], [name, 'dns']);
      assert.ok(outcome.durationMs < 1_000, name);
    }
  });

  it('what its caller gives up, or the end of the guard, is aborted, at once', async () => {
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
    assert.ok(first?.did === 'failed' && first.class === 'aborted');
    const endedMs = performance.now();
    await Promise.all([http.close(), unnamed.close()]);
    for (const outcome of await Promise.all(waiting))
      assert.ok(outcome.did === 'failed' && outcome.class === 'aborted');
    assert.ok(performance.now() - endedMs < 1_000);
    await until('no connection is left', () => receiver.open() === 0);
    const late = await http.send(post(url));
    assert.ok(late.did === 'failed' && late.class === 'aborted');
    const given = await guard().send(post(url, { signal: AbortSignal.abort() }));
    assert.ok(given.did === 'failed' && given.class === 'aborted');
    assert.equal(receiver.requests.length, 51);
  });
});

describe('what a name leads to (specification section 6.5)', () => {
  it('1,000 sends to names whose answers change from one question to the next reach what was allowed and nothing else', async () => {
    const receiver = await startKept({ certificate });
    const canary = await startKept({ certificate, host: '127.0.0.2', port: receiver.port });
    let asked = 0;
    const turns = [
      ['127.0.0.1'],
      ['127.0.0.2'],
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '::1'],
    ];
    const { http, dns } = await withNames(() => {
      asked += 1;
      return { addresses: turns[asked % turns.length] ?? [], ttlSeconds: 0 };
    });
    const counts = { answered: 0, forbidden_address: 0 };
    for (let n = 0; n < 1_000; n += 20) {
      const sends = Array.from({ length: 20 }, (_, k) =>
        http.send(post(`https://${k % 2 ? host : 'other.example.com'}:${receiver.port}/`)),
      );
      for (const outcome of await Promise.all(sends)) {
        const said = outcome.did === 'answered' ? 'answered' : outcome.class;
        assert.ok(said === 'answered' || said === 'forbidden_address', said);
        counts[said] += 1;
        if (said === 'answered') assert.equal(outcome.address, '127.0.0.1');
      }
    }
    assert.ok(counts.answered > 100 && counts.forbidden_address > 100, JSON.stringify(counts));
    assert.ok(dns.questions.length >= 200, String(dns.questions.length));
    assert.deepEqual(canary.connections, []);
    assert.ok(receiver.connections.every((address) => address === '127.0.0.1'));
    const { http: open } = await withNames(() => ({ addresses: ['127.0.0.2'] }), {
      allowed: ranges('127.0.0.2'),
    });
    assert.equal(
      (await open.send(post(`https://${host}:${receiver.port}/`))).did,
      'answered',
      'the canary can sing',
    );
  });

  it('one forbidden address, of either family and in every embedding, refuses the name', async () => {
    const receiver = await startKept({ certificate });
    let addresses: readonly string[] = [];
    const { http } = await withNames(() => ({ addresses }));
    for (const forbidden of [
      '10.0.0.1',
      '0.0.0.0',
      '::1',
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'fe80::1',
    ]) {
      for (addresses of [[forbidden], ['127.0.0.1', forbidden], [forbidden, '127.0.0.1']]) {
        const outcome = await http.send(post(`https://${host}:${receiver.port}/`));
        assert.ok(outcome.did === 'failed' && outcome.class === 'forbidden_address', forbidden);
      }
    }
    assert.deepEqual(receiver.connections, []);
  });

  it('an answer that was refused is asked for anew when it is no longer good', async () => {
    const receiver = await startKept({ certificate });
    const answers: DnsAnswer[] = [{ addresses: ['10.0.0.1'], ttlSeconds: 0 }];
    const { http } = await withNames(() => answers.at(-1) ?? here);
    const url = `https://${host}:${receiver.port}/`;
    assert.equal((await http.send(post(url))).did, 'failed');
    answers.push(here);
    assert.equal((await http.send(post(url))).did, 'answered');
  });
});

describe('TLS is always verified (specification section 6.5)', () => {
  it('a certificate that is out of date, of nobody known or for another name sends nothing, whatever the environment says', async () => {
    const expired = makeCertificate([host], '200102');
    const unknown = makeCertificate([host]);
    const { http } = await withNames(() => here, { authorities: [certificate.cert, expired.cert] });
    const wrong: readonly (readonly [typeof certificate, string])[] = [
      [expired, host],
      [unknown, host],
      [certificate, 'third.example.com'],
    ];
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      for (const [theirs, name] of wrong) {
        const receiver = await startKept({ certificate: theirs });
        for (let n = 0; n < 3; n += 1) {
          const outcome = await http.send(post(`https://${name}:${receiver.port}/`));
          assert.ok(outcome.did === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
        }
        assert.deepEqual(receiver.requests, []);
      }
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('a literal address needs a certificate for that address', async () => {
    const http = guard({ allowed: ranges('127.0.0.0/8') });
    const right = await startKept({ certificate });
    assert.equal((await http.send(post(`https://127.0.0.1:${right.port}/`))).did, 'answered');
    const wrong = await startKept({ certificate, host: '127.0.0.2' });
    const outcome = await http.send(post(`https://127.0.0.2:${wrong.port}/`));
    assert.ok(outcome.did === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
  });

  it('who speaks no TLS gets no request', async () => {
    const { http } = await withNames(() => here);
    const server = createServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const outcome = await http.send(post(`https://${host}:${port}/`));
    assert.ok(outcome.did === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
  });
});

describe('how much of an answer is read (specification section 6.5)', () => {
  it('16 KB of the body are kept to the byte; of a longer one the rest is not read and the connection ends', async () => {
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
      assert.ok(outcome.did === 'answered', JSON.stringify(outcome));
      assert.deepEqual([outcome.body.length, outcome.truncated], [kept, truncated]);
    }
    await until('what went on is closed', () => receiver.open() <= 1);
    assert.equal(receiver.connections.length, 2);
  });

  it('a body that comes compressed stays so', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const receiver = await startKept({
      answer: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.write(bomb);
      },
    });
    const outcome = await guard().send(post(`http://127.0.0.1:${receiver.port}/`));
    assert.ok(outcome.did === 'answered' && outcome.body.equals(bomb), JSON.stringify(outcome));
  });

  it('an answer to the last request does not count for the next', async () => {
    const receiver = await startKept({
      answer: (socket, request) => {
        ok(socket);
        if (request.includes('/first')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged');
      },
    });
    const http = guard();
    const url = `http://127.0.0.1:${receiver.port}`;
    assert.equal((await http.send(post(`${url}/first`))).did, 'answered');
    const next = await http.send(post(`${url}/next`));
    assert.ok(next.did === 'failed' || next.body.toString() === 'ok', JSON.stringify(next));
  });
});
