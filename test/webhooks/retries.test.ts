import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestService } from '#test/support/test-service.ts';
import { until } from '#test/support/until.ts';
import {
  answering,
  type Behaviour,
  startWebhookReceiver,
  type WebhookReceiver,
} from '#test/support/webhook-receiver.ts';
import {
  addWebhook,
  attemptsOf,
  deliveriesOf,
  emit,
  eventIdOf,
  settled,
  startWebhooking,
  stateOf,
} from '#test/support/webhooking.ts';

const offsetsMs = [0, 10_000, 60_000, 300_000];

describe('retries (specification section 6.3)', () => {
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
    const { id: teamId } = await service.newTeam();
    const receiver = await startWebhookReceiver({ behaviour });
    receivers.push(receiver);
    return { receiver, webhook: await addWebhook(service.runtime, teamId, receiver.url) };
  }

  it('are four attempts of the same bytes, none before its time, and then the delivery has failed', async () => {
    const { webhook, receiver } = await newWebhook(answering(500));
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await until('the first attempt is written', async () => (await attemptsOf(service, webhook)).length > 0);
    // In steps of time, so that an attempt that comes too early has a moment in which to come.
    await until('the last attempt is written', async () => {
      service.clock.advance(1_000);
      return (await attemptsOf(service, webhook)).length === 4;
    });
    await settled(service, webhook);
    service.clock.advance(3_600_000);
    await emit(service.runtime, webhook.teamId, ['another'], 'message.received');
    await receiver.count(5);
    const attempts = await attemptsOf(service, webhook);
    const [first, ...later] = attempts.slice(0, 4).map(({ started_at }) => started_at.getTime());
    for (const [place, startedMs] of later.entries()) {
      const afterMs = startedMs - (first ?? 0);
      const dueMs = offsetsMs[place + 1] ?? 0;
      assert.ok(afterMs >= dueMs, `attempt ${place + 2} began ${afterMs} ms after the first`);
      assert.ok(afterMs < dueMs + 20_000, `attempt ${place + 2} began ${afterMs} ms after the first`);
    }
    const received = receiver.received.slice(0, 4);
    assert.equal(new Set(received.map(({ body }) => body.toString('hex'))).size, 1);
    const [failed, other] = await deliveriesOf(service, webhook);
    assert.deepEqual([failed?.status, failed?.attempt_count], ['failed', 4]);
    assert.notEqual(other?.status, 'failed');
  });

  it('end with the first success, which zeroes the count', async () => {
    let answers = 0;
    const { webhook } = await newWebhook((answer) => {
      answers += 1;
      answer.writeHead(answers < 3 ? 503 : 204).end();
    });
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await until('the third attempt is written', async () => {
      service.clock.advance(1_000);
      return (await attemptsOf(service, webhook)).length === 3;
    });
    await settled(service, webhook);
    const [delivery] = await deliveriesOf(service, webhook);
    assert.deepEqual([delivery?.status, delivery?.attempt_count], ['succeeded', 3]);
    assert.equal((await stateOf(service, webhook)).failure_count, 0);
    assert.deepEqual(
      (await attemptsOf(service, webhook)).map(({ outcome }) => outcome),
      ['http_5xx', 'http_5xx', 'succeeded'],
    );
  });

  it('an attempt is in the log within a second of its answer', async () => {
    let answeredMs = 0;
    const { webhook } = await newWebhook((answer) => {
      answer.writeHead(200).end('taken', () => {
        answeredMs = performance.now();
      });
    });
    await emit(service.runtime, webhook.teamId, ['Hello']);
    await until('it was answered', () => answeredMs > 0);
    const [attempt] = await until('it is in the log', async () => {
      const attempts = await attemptsOf(service, webhook);
      return attempts.length > 0 && attempts;
    });
    const seenMs = performance.now() - answeredMs;
    assert.equal(attempt?.response_body?.toString(), 'taken');
    assert.ok(seenMs < 1_000, `seen after ${seenMs} ms`);
  });

  it('from the third failure in a row on there is one attempt at a time', async () => {
    const { webhook, receiver } = await newWebhook(answering(500));
    for (let failures = 1; failures <= 3; failures += 1) {
      await emit(service.runtime, webhook.teamId, ['fails']);
      await until('it is counted', async () => (await stateOf(service, webhook)).failure_count === failures);
    }
    let running = 0;
    let most = 0;
    const answers: (() => void)[] = [];
    receiver.behave((answer) => {
      running += 1;
      most = Math.max(most, running);
      answers.push(() => {
        running -= 1;
        answer.writeHead(500).end();
      });
    });
    const other = await service.startAnother();
    await emit(service.runtime, webhook.teamId, ['a', 'b', 'c', 'd']);
    for (let failures = 4; failures <= 7; failures += 1) {
      (await until('one runs', () => answers.pop()))();
      await until('it is counted', async () => (await stateOf(service, webhook)).failure_count === failures);
    }
    await other.close();
    assert.equal(most, 1);
  });

  it('two processes share the work, and no attempt is made by both', async () => {
    const { webhook, receiver } = await newWebhook(answering(200));
    const other = await service.startAnother();
    const events = 600;
    await Promise.all(
      Array.from({ length: 6 }, (_, part) =>
        emit(
          service.runtime,
          webhook.teamId,
          Array.from({ length: events / 6 }, (_, n) => `${part}/${n}`),
        ),
      ),
    );
    await settled(service, webhook);
    await other.close();
    const sent = receiver.received.map(({ body }) => eventIdOf(body));
    assert.equal(sent.length, events);
    assert.equal(new Set(sent).size, events);
  });
});
