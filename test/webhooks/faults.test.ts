import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePort, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import { type DnsServer, startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/raw-receiver.ts';
import { attemptsOf } from '#test/support/webhooks/stored-deliveries.ts';
import { addWebhook, emit, startWebhooking, type TestWebhook } from '#test/support/webhooks/webhook-world.ts';

describe('failure classes of receivers (specification sections 6.3 and 6.5)', () => {
  let service: TestService;
  let dns: DnsServer;
  const receivers: Receiver[] = [];
  let canary: Receiver;
  const recorded = new Map<string, TestWebhook>();

  before(async () => {
    dns = await startDnsServer(() => 'no such name');
    service = await startWebhooking({ WEBHOOK_TIMEOUT_MS: '1000' }, { nameServers: [dns.address] });
    const serve = async (...options: Parameters<typeof startReceiver>) => {
      const receiver = await startReceiver(...options);
      receivers.push(receiver);
      return receiver;
    };
    const says = async (answer: string, then: 'stays' | 'ends' | 'resets' = 'stays') => {
      const receiver = await serve({
        answer: (socket) => {
          if (answer !== '') socket.write(answer);
          if (then === 'ends') socket.end();
          if (then === 'resets') socket.resetAndDestroy();
        },
      });
      return `http://127.0.0.1:${receiver.port}/`;
    };
    canary = await serve();
    const secure = await serve({ certificate: makeCertificate() });
    const to = `http://127.0.0.1:${canary.port}/`;
    const faults: Readonly<Record<string, string>> = {
      http_4xx: await says('HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\nnope'),
      http_5xx: await says('HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n'),
      redirect: await says(`HTTP/1.1 307 There\r\nlocation: ${to}\r\ncontent-length: 0\r\n\r\n`),
      timeout: await says(''),
      dns: 'https://nobody.example.com/',
      forbidden_address: 'https://10.0.0.1/',
      connection_refused: `http://127.0.0.1:${await freePort()}/`,
      connection_reset: await says('', 'resets'),
      tls: `https://127.0.0.1:${secure.port}/`,
      incomplete_answer: await says('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', 'ends'),
      invalid_answer: await says('220 mail.example.com ESMTP\r\n', 'ends'),
      headers_too_large: await says(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`),
    };
    const { id: teamId } = await service.newTeam();
    for (const [fault, url] of Object.entries(faults)) {
      recorded.set(fault, await addWebhook(service.runtime, teamId, url));
    }
    await emit(service.runtime, teamId, ['Hello']);
  });
  after(async () => {
    await service.close();
    for (const receiver of receivers) await receiver.close();
    await dns.close();
  });

  it('12 faults have 12 failure classes, and a failure of each is counted (§6.3/success, §6.3/retry-offsets, §6.5/failure-classes)', async () => {
    const found: Record<string, string> = {};
    for (const [fault, webhook] of recorded) {
      const [attempt] = await until(`an attempt of ${fault}`, async () => {
        const attempts = await attemptsOf(service, webhook);
        return attempts.length > 0 && attempts;
      });
      found[fault] = `${attempt?.outcome}${attempt?.isCounted === true ? '' : ', not counted'}`;
    }
    assert.deepEqual(Object.keys(found).length, 12);
    assert.deepEqual(found, Object.fromEntries([...recorded.keys()].map((fault) => [fault, fault])));
  });

  it('the body of a failed answer is stored with its status', async () => {
    const webhook = recorded.get('http_4xx');
    const [attempt] = webhook ? await attemptsOf(service, webhook) : [];
    assert.deepEqual([attempt?.statusCode, attempt?.responseBody?.toString()], [400, 'nope']);
    assert.equal(attempt?.responseTruncated, false);
  });

  it('the target of a redirect gets no request (§6.3/success)', () => {
    assert.deepEqual(canary.requests, []);
  });
});
