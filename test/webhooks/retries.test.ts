import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type DeliveryId, publicId } from '#server/platform/ids.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { freePort, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';
import { type DnsServer, startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { type Receiver, startReceiver } from '#test/support/webhooks/raw-receiver.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import {
  answering,
  type Behaviour,
  startWebhookReceiver,
  type WebhookReceiver,
} from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, startWebhooking, type TestWebhook } from '#test/support/webhooks/webhook-world.ts';

const offsetsMs = [0, 10_000, 60_000, 300_000];

describe('retries of deliveries (specification section 6.3)', () => {
  let service: TestService;
  const receivers: WebhookReceiver[] = [];

  before(async () => {
    service = await startWebhooking();
  });
  after(async () => {
    await service.close();
    for (const receiver of receivers) await receiver.close();
  });

  async function newWebhook(behaviour: Behaviour) {
    const { id: teamId, api } = await service.newTeam();
    const receiver = await startWebhookReceiver({ behaviour });
    receivers.push(receiver);
    return { receiver, api, webhook: await addWebhook(service.runtime, teamId, receiver.url) };
  }

  /** Makes a later delivery and awaits its end. Then all deliveries that were due before it have begun. */
  async function proven(of: TestService) {
    const receiver = await startWebhookReceiver();
    receivers.push(receiver);
    const webhook = await addWebhook(of.runtime, (await of.newTeam()).id, receiver.url);
    await emit(of.runtime, webhook.teamId, ['proof']);
    await settled(of, webhook);
  }

  it('a failing delivery has four attempts of the same bytes, none before its time, and then has failed (§6.2/envelope, §6.3/request-format, §6.3/retry-offsets)', async () => {
    const { webhook, receiver } = await newWebhook(answering(500));
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await until('the first attempt is written', async () => (await attemptsOf(service, webhook)).length > 0);
    // The clock moves in small steps, so that an attempt that begins too early is noticed.
    await until('the last attempt is written', async () => {
      service.clock.advance(2_000);
      return (await attemptsOf(service, webhook)).length === 4;
    });
    await settled(service, webhook);
    service.clock.advance(3_600_000);
    await emit(service.runtime, webhook.teamId, ['another'], 'message.received');
    await receiver.count(5);
    const attempts = await attemptsOf(service, webhook);
    const [first, ...later] = attempts.slice(0, 4).map(({ startedAt }) => startedAt.getTime());
    for (const [place, startedMs] of later.entries()) {
      const afterMs = startedMs - (first ?? 0);
      const dueMs = offsetsMs[place + 1] ?? 0;
      assert.ok(afterMs >= dueMs, `attempt ${place + 2} began ${afterMs} ms after the first`);
      assert.ok(afterMs < dueMs + 20_000, `attempt ${place + 2} began ${afterMs} ms after the first`);
    }
    const received = receiver.received.slice(0, 4);
    assert.equal(new Set(received.map(({ body }) => body.toString('hex'))).size, 1);
    const [failed, other] = await deliveriesOf(service, webhook);
    assert.deepEqual([failed?.status, failed?.attemptCount], ['failed', 4]);
    assert.notEqual(other?.status, 'failed');
  });

  it('an attempt that becomes due during the previous one begins when that one ends (§6.3/retry-offsets, §6.3/interrupted-attempts)', async (t) => {
    const other = await startWebhooking({ WEBHOOK_OFFSETS_SECONDS: '0,2,3,4' });
    const open: ServerResponse[] = [];
    const receiver = await startWebhookReceiver({ behaviour: (answer) => void open.push(answer) });
    receivers.push(receiver);
    t.after(() => other.close());
    const webhook = await addWebhook(other.runtime, (await other.newTeam()).id, receiver.url);
    await emit(other.runtime, webhook.teamId, ['Hello']);
    await until('the first one runs', () => open.length === 1);
    // Moves the clock past all offsets, but by less than the time that one attempt may take.
    for (let step = 0; step < 5; step += 1) {
      other.clock.advance(1_000);
      await proven(other);
    }
    assert.equal(open.length, 1);
    open[0]?.writeHead(500).end();
    // The clock stands still, so the second attempt begins at once: it was due while the first one ran.
    await until('the second one runs', () => open.length === 2);
    open[1]?.writeHead(200).end();
    await settled(other, webhook);
    const [first, second] = (await attemptsOf(other, webhook)).map((one) => one.startedAt.getTime());
    const laterMs = (second ?? 0) - (first ?? 0);
    assert.ok(laterMs >= 5_000 && laterMs < 10_000, `it began ${laterMs} ms after the first`);
  });

  it('an attempt whose process died is made again 20 s after its time limit, and not before (§6.3/interrupted-attempts)', async () => {
    const open: ServerResponse[] = [];
    const { webhook, receiver } = await newWebhook((answer) => void open.push(answer));
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await receiver.count(1);
    // The clock stops 5 s before the end of the lease, because the test itself takes time.
    service.clock.advance(25_000);
    await proven(service);
    assert.equal(receiver.received.length, 1);
    receiver.behave(answering(200));
    service.clock.advance(5_100);
    await settled(service, webhook);
    open[0]?.writeHead(500).end();
    const [first, second] = await until('both are in the log', async () => {
      const attempts = await attemptsOf(service, webhook);
      return attempts.length === 2 && attempts.map(({ startedAt }) => startedAt.getTime());
    });
    const laterMs = (second ?? 0) - (first ?? 0);
    assert.ok(laterMs < 40_000, `it was made again after ${laterMs} ms`);
    assert.equal(new Set(receiver.received.map(({ body }) => body.toString('hex'))).size, 1);
    assert.equal((await deliveriesOf(service, webhook))[0]?.status, 'succeeded');
  });

  it('the first success ends the retries and zeroes the failure count (§6.3/retry-offsets)', async () => {
    let answers = 0;
    const { webhook } = await newWebhook((answer) => {
      answers += 1;
      answer.writeHead(answers < 3 ? 503 : 204).end();
    });
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await until('the third attempt is written', async () => {
      service.clock.advance(2_000);
      return (await attemptsOf(service, webhook)).length === 3;
    });
    await settled(service, webhook);
    const [delivery] = await deliveriesOf(service, webhook);
    assert.deepEqual([delivery?.status, delivery?.attemptCount], ['succeeded', 3]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
    assertEach(await attemptsOf(service, webhook), ({ outcome }) => outcome, [
      'http_5xx',
      'http_5xx',
      'succeeded',
    ]);
  });

  it('an attempt is in the log of deliveries within a second of its response', async () => {
    let answeredMs = 0;
    const { webhook, api } = await newWebhook((answer) => {
      answer.writeHead(200).end('taken', () => {
        answeredMs = performance.now();
      });
    });
    await emit(service.runtime, webhook.teamId, ['Hello']);
    const [made] = await deliveriesOf(service, webhook);
    assert.ok(made);
    const path = `/v1/webhooks/${publicId('wh', webhook.id)}/deliveries/${publicId('dlv', made.id as DeliveryId)}`;
    await until('it was answered', () => answeredMs > 0);
    const attempt = await until('it is in the log', async () =>
      field((await api.get(path)).json, 'attempts.0'),
    );
    const seenMs = performance.now() - answeredMs;
    assert.equal(field(attempt, 'response_body'), 'taken');
    assert.ok(seenMs < 1_000, `seen after ${seenMs} ms`);
  });
});

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
