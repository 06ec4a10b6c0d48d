import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { listenLocally } from '#test/support/proxies/listen-locally.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import type { DnsAnswer } from '#test/support/webhooks/dns-server.ts';
import { certificate, here, host, outboundSuite, post, ranges } from '#test/support/webhooks/outbound.ts';

describe('the addresses that a name resolves to (§6.5/dns-look-up)', () => {
  const { startKept, withNames } = outboundSuite();

  it('1,000 sends to names whose answers change between look-ups reach allowed addresses only', async () => {
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
        const said = outcome.kind === 'answered' ? 'answered' : outcome.class;
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
      (await open.send(post(`https://${host}:${receiver.port}/`))).kind,
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
        assert.ok(outcome.kind === 'failed' && outcome.class === 'forbidden_address', forbidden);
      }
    }
    assert.deepEqual(receiver.connections, []);
  });

  it('a name that was refused is resolved again after its TTL', async () => {
    const receiver = await startKept({ certificate });
    const answers: DnsAnswer[] = [{ addresses: ['10.0.0.1'], ttlSeconds: 0 }];
    const { http } = await withNames(() => answers.at(-1) ?? here);
    const url = `https://${host}:${receiver.port}/`;
    assert.equal((await http.send(post(url))).kind, 'failed');
    answers.push(here);
    assert.equal((await http.send(post(url))).kind, 'answered');
  });
});

describe('TLS verification of outgoing requests (§6.5/tls-verification)', () => {
  const { guard, kept, startKept, withNames } = outboundSuite();

  it('nothing is sent to a receiver whose certificate is expired, untrusted or for another name, whatever the environment says', async () => {
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
          assert.ok(outcome.kind === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
        }
        assert.deepEqual(receiver.requests, []);
      }
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('a literal address needs a certificate that names this address', async () => {
    const http = guard({ allowed: ranges('127.0.0.0/8') });
    const right = await startKept({ certificate });
    assert.equal((await http.send(post(`https://127.0.0.1:${right.port}/`))).kind, 'answered');
    const wrong = await startKept({ certificate, host: '127.0.0.2' });
    const outcome = await http.send(post(`https://127.0.0.2:${wrong.port}/`));
    assert.ok(outcome.kind === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
  });

  it('a receiver without TLS gets no request', async () => {
    const { http } = await withNames(() => here);
    const server = kept(
      createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const port = await listenLocally(server);
    const outcome = await http.send(post(`https://${host}:${port}/`));
    assert.ok(outcome.kind === 'failed' && outcome.class === 'tls', JSON.stringify(outcome));
  });
});
