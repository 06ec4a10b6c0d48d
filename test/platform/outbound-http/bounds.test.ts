import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { failureOfStatus } from '#contract/attempt-outcome.ts';
import type { OutboundHttp, OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { certificate, host, outboundSuite, ranges } from '#test/support/webhooks/outbound.ts';
import { startReceiver } from '#test/support/webhooks/raw-receiver.ts';

describe('the bounds of an outgoing request (specification section 6.5)', () => {
  const { guard: allowing, kept } = outboundSuite();
  const guard = (options: Partial<OutboundHttpOptions> = {}, range = '127.0.0.0/8') =>
    allowing({ allowed: ranges(range), ...options });

  async function send(http: OutboundHttp, url: string) {
    const outcome = await http.send({ url, method: 'POST', headers: {}, timeoutMs: 20_000 });
    return { ...outcome, said: outcome.kind === 'answered' ? outcome.status : outcome.class };
  }

  /** Sends a request to a receiver that answers with `answer`. @returns the status, or the failure class */
  async function saidOf(answer: string) {
    const receiver = kept(await startReceiver({ answer: (socket) => socket.write(answer) }));
    return (await send(guard(), `http://127.0.0.1:${receiver.port}/`)).said;
  }

  it('four addresses of a name are tried, in their order (§6.5/dns-look-up)', async () => {
    const refusing = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
    const receiver = kept(await startReceiver({ certificate }));
    let addresses: readonly string[] = [];
    const dns = kept(await startDnsServer(() => ({ addresses })));
    const http = guard({ nameServers: [dns.address] });
    const url = `https://${host}:${receiver.port}/`;
    addresses = [...refusing.slice(0, 3), '127.0.0.1'];
    assert.equal((await send(http, url)).said, 200);
    addresses = [...refusing, '127.0.0.1'];
    const { said, address } = await send(http, url);
    assert.deepEqual([said, address], ['connection_refused', refusing[3]]);
  });

  it('an answer of DNS is used for its TTL, and for a minute at most (§6.5/dns-look-up)', async (t) => {
    const receiver = kept(await startReceiver({ certificate }));
    let ttlSeconds = 20;
    const dns = kept(await startDnsServer(() => ({ addresses: ['127.0.0.1'], ttlSeconds })));
    const http = guard({ nameServers: [dns.address] });
    const real = performance.now.bind(performance);
    let aheadMs = 0;
    mock.method(performance, 'now', () => real() + aheadMs);
    t.after(() => mock.restoreAll());
    /** Sends a request after `ms`. @returns true if the name was queried again */
    const asksAfter = async (ms: number) => {
      const before = dns.questions.length;
      aheadMs += ms;
      assert.equal((await send(http, `https://${host}:${receiver.port}/`)).said, 200);
      return dns.questions.length > before;
    };
    assert.equal(await asksAfter(0), true);
    // 15 s are 5 s less than the TTL, because the test itself takes time.
    assert.equal(await asksAfter(15_000), false);
    ttlSeconds = 3_600;
    assert.equal(await asksAfter(5_000), true);
    assert.equal(await asksAfter(55_000), false);
    assert.equal(await asksAfter(5_000), true);
  });

  it('a connection is kept for the next request, and closed after a second without one (§6.5/sent-once)', async () => {
    const receiver = kept(await startReceiver());
    const http = guard();
    for (let n = 0; n < 2; n += 1)
      assert.equal((await send(http, `http://127.0.0.1:${receiver.port}/`)).said, 200);
    assert.deepEqual([receiver.connections.length, receiver.open()], [1, 1]);
    // Receivers close their side after 2 s at the earliest, and undici checks once a second.
    await until('it is closed', () => receiver.open() === 0, 4_000);
  });

  it('16 KB of response headers are read, and not a line more (§6.5/deadline-and-bounds)', async () => {
    const answer = (bytes: number) => {
      const rest = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-long: \r\n\r\n'.length;
      return `HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-long: ${'a'.repeat(bytes - rest)}\r\n\r\n`;
    };
    assert.equal(await saidOf(answer(16_300)), 200);
    assert.equal(await saidOf(answer(16_500)), 'headers_too_large');
  });

  it('up to 32 interim responses of status 1xx are skipped, and a further one makes the response invalid', async () => {
    const early = 'HTTP/1.1 103 Early\r\n\r\n';
    const last = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    assert.equal(await saidOf(early.repeat(32) + last), 200);
    assert.equal(await saidOf(early.repeat(33) + last), 'invalid_answer');
    assert.equal(await saidOf(`HTTP/1.1 100 Go on\r\n\r\n${last}`), 'invalid_answer');
    assert.equal(
      await saidOf('HTTP/1.1 101 Go\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      'invalid_answer',
    );
  });

  it('a status of 2xx is success, and 600 and above are failures of the receiver (§6.3/success)', async () => {
    const receiver = kept(
      await startReceiver({
        answer: (socket, request) =>
          socket.write(`HTTP/1.1 ${/\/(\d+)/.exec(request)?.[1]} So\r\ncontent-length: 0\r\n\r\n`),
      }),
    );
    const http = guard();
    const failures = {
      redirect: [300, 301, 302, 303, 304, 307, 308, 399],
      http_4xx: [400, 404, 410, 429, 499],
      http_5xx: [500, 503, 599, 600, 999],
      undefined: [200, 201, 202, 204, 299],
    };
    for (const [expected, statuses] of Object.entries(failures)) {
      for (const status of statuses) {
        const { said } = await send(http, `http://127.0.0.1:${receiver.port}/${status}`);
        assert.equal(said, status);
        assert.equal(String(failureOfStatus(status)), expected, String(status));
      }
    }
  });

  it('a missing network route on this machine and a refused connection have different failure classes', async () => {
    // The broadcast address has no route for TCP, so the system refuses the connection itself.
    const outcome = await send(guard({}, '255.255.255.255'), 'http://255.255.255.255:8080/');
    assert.equal(outcome.said, 'no_network');
    const closed = await send(guard(), `http://127.0.0.1:${await freePort()}/`);
    assert.equal(closed.said, 'connection_refused');
  });
});
