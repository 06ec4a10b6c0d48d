import assert from 'node:assert/strict';
import { scrypt } from 'node:crypto';
import { describe, it } from 'node:test';
import { body, certificate, here, host, outboundSuite, post } from '#test/support/webhooks/outbound.ts';
import { ok } from '#test/support/webhooks/raw-receiver.ts';

describe('an outgoing request (specification section 6.5)', () => {
  const { guard, startKept, withNames } = outboundSuite();

  it('a request sends the given bytes and headers with the Host of the URL, and returns the response', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    const outcome = await http.send(post(`https://${host}.:${receiver.port}/a?b=c#d`));
    assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
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

  it('many simultaneous requests to one host query DNS once, and each has its own connection (§6.5/dns-look-up)', async () => {
    const receiver = await startKept({ certificate });
    const { http, dns } = await withNames(() => ({ addresses: ['127.0.0.1'], ttlSeconds: 0 }));
    const url = `https://${host}:${receiver.port}/`;
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => http.send(post(url))));
    assert.ok(outcomes.every(({ kind }) => kind === 'answered'));
    assert.equal(receiver.connections.length, 50);
    assert.equal(dns.questions.length, 2);
    await http.send(post(url));
    assert.equal(dns.questions.length, 4, 'an answer without a TTL is not kept');
  });

  it('a request never uses the connection of another host name, even with the same address (§6.5/sent-once)', async () => {
    const receiver = await startKept({ certificate });
    const { http } = await withNames(() => here);
    for (const name of [host, 'other.example.com', host]) {
      assert.equal((await http.send(post(`https://${name}:${receiver.port}/`))).kind, 'answered');
    }
    assert.equal(receiver.connections.length, 2);
  });

  it('if a receiver closes kept connections silently, one request fails, and not every second one (§6.5/sent-once)', async () => {
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
      if (outcome.kind === 'failed') failures.push(outcome.class);
    }
    assert.ok(failures.length <= 1, failures.join());
  });

  it('DNS is answered while every thread of the pool is busy, as with password hashing (§6.5/dns-look-up)', async () => {
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
    assert.deepEqual([outcome.kind, stillWorking > 0], ['answered', true]);
  });
});
