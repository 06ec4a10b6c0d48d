import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { publicId } from '#server/platform/ids.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { dropAttempts, dropEvent } from '#test/support/webhooks/given-due-deliveries.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('manual attempts, replay and rotation, end to end (specification sections 4.4 and 6.4)', () => {
  let path: string;
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const webhook = given(() => addWebhook(service.runtime, team.id, receiver.url));

  before(async () => {
    path = `/v1/webhooks/${publicId('wh', webhook.id)}`;
  });

  const latest = () => {
    const delivery = receiver.received.at(-1);
    if (!delivery) throw new Error('the receiver got no request');
    const { headers, body } = delivery;
    return { headers: headers as Record<string, string>, text: body.toString('utf8') };
  };
  async function redeliver(id: string): Promise<void> {
    const made = (await attemptsOf(service, webhook)).length;
    const answer = await team.api.post(`${path}/deliveries/${publicId('dlv', id as never)}/redeliver`);
    assert.equal(answer.status, 202, answer.text);
    await until('it is in the log', async () => (await attemptsOf(service, webhook)).length === made + 1);
  }

  it('a test is signed and has a header that marks it as a test, and its failure does not count', async () => {
    receiver.behave(answering(500));
    assert.equal((await team.api.post(`${path}/test`)).status, 202);
    await receiver.count(1);
    await settled(service, webhook);
    const { headers, text } = latest();
    assert.equal(headers['x-service-test'], '1');
    new Webhook(webhook.secret).verify(text, headers);
    const [delivery] = await deliveriesOf(service, webhook);
    assert.deepEqual([delivery?.status, delivery?.attemptCount], ['failed', 1]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
  });

  it('a delivery that succeeded stays succeeded if its redelivery fails', async () => {
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Hello']);
    await settled(service, webhook);
    const delivered = (await deliveriesOf(service, webhook)).at(-1);
    receiver.behave(answering(500));
    await redeliver(delivered?.id ?? '');
    const after = (await deliveriesOf(service, webhook)).at(-1);
    assert.deepEqual([after?.status, after?.attemptCount], ['succeeded', 2]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
  });

  it('a delivery that succeeded stays succeeded after its attempts are purged, and no replay sends it again', async () => {
    const since = service.clock.now().toISOString();
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Taken, and forgotten']);
    await settled(service, webhook);
    const last = async () => (await deliveriesOf(service, webhook)).at(-1);
    await dropAttempts(service);
    receiver.behave(answering(500));
    await redeliver((await last())?.id ?? '');
    assert.deepEqual([(await last())?.status, (await last())?.attemptCount], ['succeeded', 2]);
    const replayed = await team.api.post(`${path}/replay`, { since, only: 'all' });
    assert.deepEqual([replayed.status, replayed.json.queued], [202, 0]);
  });

  it('redelivering a delivery whose event was deleted sends nothing and does not change its status succeeded', async () => {
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Taken, and deleted']);
    await settled(service, webhook);
    const last = async () => (await deliveriesOf(service, webhook)).at(-1);
    const taken = await last();
    assert.ok(taken);
    await dropEvent(service, taken.eventId);
    const before = receiver.received.length;
    const answer = await team.api.post(`${path}/deliveries/${publicId('dlv', taken.id)}/redeliver`);
    assert.equal(answer.status, 202, answer.text);
    await settled(service, webhook);
    assert.equal(receiver.received.length, before);
    assert.deepEqual([(await last())?.status, (await last())?.attemptCount], ['succeeded', 1]);
  });

  it('a replay sends skipped events once, and no event that succeeded (§6.4/replay-and-rotation)', async () => {
    assert.equal((await team.api.put(path, { active: false })).status, 200);
    await emit(service.runtime, team.id, ['missed 1', 'missed 2', 'missed 3']);
    assert.equal((await team.api.put(path, { active: true })).status, 200);
    const before = receiver.received.length;
    const since = new Date(service.clock.nowMs() - 3_600_000).toISOString();
    const replay = await team.api.post(`${path}/replay`, { since, only: 'skipped' });
    assert.deepEqual([replay.status, replay.json.queued], [202, 3]);
    await receiver.count(before + 3);
    await settled(service, webhook);
    const contents = receiver.received
      .slice(before)
      .map(({ body }) => JSON.parse(body.toString('utf8')).data.content);
    assert.deepEqual(contents.sort(), ['missed 1', 'missed 2', 'missed 3']);
    const again = await team.api.post(`${path}/replay`, { since, only: 'skipped' });
    assert.equal(again.json.queued, 0);
  });

  it('receivers with either secret verify during a rotation, and only those with the next one after 24 hours (§6.4/replay-and-rotation)', async () => {
    const rotated = await team.api.post(`${path}/rotate-secret`);
    const next = new Webhook(String(rotated.json.secret));
    const current = new Webhook(webhook.secret);
    await emit(service.runtime, team.id, ['during']);
    await settled(service, webhook);
    const during = latest();
    next.verify(during.text, during.headers);
    current.verify(during.text, during.headers);
    assert.ok(during.headers['x-service-signature-next']);
    service.clock.advance(24 * 3_600_000);
    await emit(service.runtime, team.id, ['after']);
    await settled(service, webhook);
    const { headers, text } = latest();
    assert.equal(headers['x-service-signature-next'], undefined);
    assert.equal(headers['webhook-signature']?.split(' ').length, 1);
    // The clock of this test is a day ahead of the library's clock, so the library refuses the delivery as too new.
    assert.throws(() => next.verify(text, headers), /too new/);
    assert.throws(() =>
      current.verify(text, { ...headers, 'webhook-timestamp': during.headers['webhook-timestamp'] ?? '' }),
    );
  });
});
