import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { failureClass } from '#server/platform/outbound-http/response-reader.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import type { DnsAnswer } from '#test/support/webhooks/dns-server.ts';
import { certificate, here, host, outboundSuite, post } from '#test/support/webhooks/outbound.ts';

const classOf = async (http: OutboundHttp, url: string, timeoutMs = 2_000) => {
  const outcome = await http.send(post(url, { timeoutMs }));
  return outcome.kind === 'failed' ? outcome.class : outcome.status;
};

describe('failure classes of our own network (specification section 6.5)', () => {
  const { guard, startKept, withNames } = outboundSuite();

  it('a request for a host name has class no_network if no name server answers, however they fail', async () => {
    for (const said of ['silence', 'server failure'] as const) {
      const { http } = await withNames(() => said);
      assert.equal(await classOf(http, `https://${host}/`), 'no_network', said);
    }
    const withoutDns = guard({ nameServers: [`127.0.0.1:${await freePort()}`] });
    assert.equal(await classOf(withoutDns, `https://${host}/`), 'no_network', 'nothing listens');

    // The host's address is in the cache. The receiver accepts connections, but never answers the TLS handshake.
    let answer: DnsAnswer = here;
    const { http } = await withNames(() => answer);
    const receiver = await startKept({ certificate });
    const silent = await startKept({ answer: () => undefined });
    assert.equal(await classOf(http, `https://${host}:${receiver.port}/`), 200);
    answer = 'silence';
    assert.equal(await classOf(http, `https://${host}:${silent.port}/`), 'no_network', 'no connection');
  });

  it('a request that times out after the name servers work again has class timeout, although an earlier look-up failed', async () => {
    let answer: DnsAnswer = here;
    const { http, dns } = await withNames(() => answer);
    const receiver = await startKept({ certificate });
    const silent = await startKept({ answer: () => undefined });
    assert.equal(await classOf(http, `https://${host}:${receiver.port}/`), 200);
    answer = 'silence';
    const url = `https://${host}:${silent.port}/`;
    const abort = new AbortController();
    // Each request queries the name servers at half of its time-out, so the second queries 300 ms after the first.
    const first = http.send(post(url, { timeoutMs: 4_400, signal: abort.signal }));
    const second = classOf(http, url, 5_000);
    await until('the root is asked for', () => dns.questions.some((question) => !question.endsWith(host)));
    answer = here;
    abort.abort();
    await first;
    assert.equal(await second, 'timeout');
  });

  it('a request for a name that can’t be resolved has class dns if other names can be resolved', async () => {
    for (const said of ['silence', 'server failure', 'no such name'] as const) {
      const { http, dns } = await withNames((name) => (name === host ? said : { addresses: [] }));
      assert.equal(await classOf(http, `https://${host}/`), 'dns', said);
      const probes = dns.questions.filter((question) => !question.endsWith(host));
      assert.equal(
        probes.length,
        said === 'no such name' ? 0 : 1,
        'and the root was asked for where it was in doubt',
      );
    }
  });

  it('a fault on an open connection counts as the receiver’s, whatever state the name servers are in', async () => {
    let answer: DnsAnswer = here;
    const { http } = await withNames(() => answer);
    const receiver = await startKept({ certificate, answer: (socket) => void socket.resume() });
    assert.equal(await classOf(http, `https://${host}:${receiver.port}/`, 1_000), 'timeout');
    answer = 'silence';
    assert.equal(await classOf(http, `https://${host}:${receiver.port}/`, 1_000), 'timeout');
  });

  it('a DNS answer that takes more than a second is waited for, even after many fast answers', async () => {
    const { http } = await withNames((name) =>
      name === host ? { addresses: ['127.0.0.1'], afterMs: 1_300 } : { addresses: ['127.0.0.1'] },
    );
    const receiver = await startKept({ certificate });
    for (let n = 0; n < 20; n += 1) {
      assert.equal(await classOf(http, `https://fast-${n}.example.com:${receiver.port}/`), 'tls');
    }
    assert.equal(await classOf(http, `https://${host}:${receiver.port}/`, 10_000), 200);
  });

  it('system errors before the connection is open have class no_network, unreachable or connection_refused', () => {
    const progress = { secure: true, connected: false, answering: false };
    const classes = Object.fromEntries(
      ['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'EPERM', 'EHOSTUNREACH', 'ECONNREFUSED'].map((code) => [
        code,
        failureClass(Object.assign(new Error(code), { code, errno: -1 }), progress),
      ]),
    );
    assert.deepEqual(classes, {
      ENETUNREACH: 'no_network',
      ENETDOWN: 'no_network',
      EADDRNOTAVAIL: 'no_network',
      EPERM: 'no_network',
      EHOSTUNREACH: 'unreachable',
      ECONNREFUSED: 'connection_refused',
    });
  });
});
