import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type EventId, publicId } from '#server/platform/ids.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('attempts of deliveries (§6.3/request-format)', () => {
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService();

  it('an event is sent once, with the stored bytes, and its delivery then has the status succeeded (§6.2/envelope)', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['Hello']);
    const [delivery] = await receiver.count(1);
    await settled(service, webhook);
    const [event] = await storedEvents(service, { teamId });
    assert.deepEqual(delivery?.body, Buffer.from(String(event?.body), 'utf8'));
    const [attempt, ...more] = await attemptsOf(service, webhook);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [attempt?.outcome, attempt?.statusCode, attempt?.url, attempt?.isCounted],
      ['succeeded', 200, receiver.url, true],
    );
    const [row] = await deliveriesOf(service, webhook);
    assert.deepEqual([row?.status, row?.attemptCount], ['succeeded', 1]);
    assert.ok(row?.finishedAt);
    await until(
      'last_triggered_at is written',
      async () => (await stateOf(service, webhook)).lastTriggeredAt,
    );
  });

  it('an attempt is a POST with exactly the headers of its event and its signatures', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const before = receiver.received.length;
    await emit(service.runtime, teamId, ['Grüße 👋'], 'message.received');
    const delivery = (await receiver.count(before + 1)).at(-1);
    const [row] = await deliveriesOf(service, webhook);
    assert.ok(delivery && row);
    const { headers, body } = delivery;
    const timestamp = headers['webhook-timestamp'];
    assert.deepEqual(headers, {
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': `Ownline/${productVersion}`,
      'x-service-event': 'message.received',
      'x-service-signature': `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`,
      'webhook-id': publicId('evt', row.eventId as EventId),
      'webhook-timestamp': timestamp,
      'webhook-signature': headers['webhook-signature'],
    });
    new Webhook(webhook.secret).verify(body.toString('utf8'), headers as Record<string, string>);
    await settled(service, webhook);
    const [attempt] = await attemptsOf(service, webhook);
    assert.equal(timestamp, String(Math.floor((attempt?.startedAt.getTime() ?? 0) / 1_000)));
  });
});
