import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageLog } from '#contract/message.ts';
import type { DeliveryLog } from '#contract/webhook.ts';
import type { DeliveryRequest, LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import { publicId } from '#server/platform/ids.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { dropEvent } from '#test/support/webhooks/given-due-deliveries.ts';
import {
  newAttempt,
  newDelivery,
  newWebhook,
  queueMany,
  uuidOf,
} from '#test/support/webhooks/make-webhooks.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import {
  addWebhook,
  emit,
  givenWebhookService,
  type TestWebhook,
} from '#test/support/webhooks/webhook-world.ts';

const to = '+14155550199';

describe('lists with more fields for members', () => {
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const viewer = given(() => newMember(service, team, 'viewer'));

  it('the dashboard’s lists of messages have the error_code and the people, and those of /v1 have neither', async () => {
    const { phoneNumber: from } = await connectNumber(service, team);
    const waiting = await team.api.send({ from, to, content: 'One' });
    const cancelled = await team.api.send({ from, to, content: 'Two' });
    assert.equal((await team.api.post(`/v1/messages/${cancelled}/cancel`)).status, 200);
    const read = async (query: string) => {
      const { status, json, text } = await viewer.get(viewer.in(`/messages?limit=1${query}`));
      assert.equal(status, 200, text);
      return json as unknown as MessageLog;
    };
    const { json: contact } = await team.api.post('/v1/contacts', { name: 'Ada Example', handles: [to] });
    const codes = ({ messages }: MessageLog) => messages.map(({ id, error_code }) => [id, error_code]);
    const first = await read('');
    assert.deepEqual(codes(first), [[cancelled, 'cancelled']]);
    const [shown] = first.messages;
    const people = [shown?.contact_id, shown?.name, shown?.sender?.name];
    assert.deepEqual(people, [contact.id, 'Ada Example', 'test']);
    assert.deepEqual(codes(await read(`&cursor=${first.cursor}`)), [[waiting, null]]);
    assert.deepEqual(codes(await read('&status=queued')), [[waiting, null]]);
    assert.deepEqual(codes(await read('&status=failed')), [[cancelled, 'cancelled']]);
    const { json } = await team.api.get('/v1/messages');
    for (const message of (json as unknown as MessageLog).messages) {
      assert.ok(!('error_code' in message));
      assert.ok(!('sender' in message || 'name' in message));
    }
  });

  it('the dashboard’s lists of deliveries have the latest attempt’s status, and those of /v1 have none', async (t) => {
    const receiver = await startWebhookReceiver({ behaviour: answering(503, 'no') });
    t.after(() => receiver.close());
    const webhook = await newWebhook(team.api, { url: receiver.url, events: ['message.sent'] });
    const path = `/webhooks/${webhook.id}/deliveries`;
    const never = await newDelivery(service, team, webhook.id, { status: 'skipped' });
    const lastOf = (deliveryId: unknown) =>
      until('an attempt is recorded', async () => {
        const { json } = await viewer.get(viewer.in(path));
        const delivery = (json as unknown as DeliveryLog).deliveries.find(({ id }) => id === deliveryId);
        return delivery && delivery.attempt_count > 0 && delivery.last_attempt;
      });
    const test = () => team.api.post(`/v1/webhooks/${webhook.id}/test`);
    assert.deepEqual(await lastOf((await test()).json.id), { outcome: 'http_5xx', status_code: 503 });
    receiver.behave(answering(204));
    assert.deepEqual(await lastOf((await test()).json.id), { outcome: 'succeeded', status_code: 204 });
    const twice = await newDelivery(service, team, webhook.id);
    await newAttempt(service, team, twice, { outcome: 'http_5xx', statusCode: 500 });
    await newAttempt(service, team, twice, { outcome: 'timeout', statusCode: null });
    assert.deepEqual(await lastOf(twice), { outcome: 'timeout', status_code: null });
    const log = await viewer.get(viewer.in(`${path}?status=skipped`));
    assertEach(
      (log.json as unknown as DeliveryLog).deliveries,
      ({ id, last_attempt }) => [id, last_attempt],
      [[never, null]],
    );
    const { json } = await team.api.get(`/v1${path}`);
    for (const one of (json as unknown as DeliveryLog).deliveries) assert.ok(!('last_attempt' in one));
  });
});

describe('reads of the webhook pages that /v1 does not have', () => {
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const viewer = given(() => newMember(service, team, 'viewer'));

  async function healthOf(id: string): Promise<WebhookHealth> {
    const answer = await viewer.get(viewer.in(`/webhooks/${id}/health`));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as WebhookHealth;
  }

  async function requestOf(webhook: string, delivery: string): Promise<string | null> {
    const answer = await viewer.get(viewer.in(`/webhooks/${webhook}/deliveries/${delivery}/request`));
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as unknown as DeliveryRequest).body;
  }

  const idOf = (webhook: TestWebhook) => publicId('wh', webhook.id);

  it('the health of a working webhook has no failure and no time of missed events', async () => {
    receiver.behave(answering(200));
    const webhook = await addWebhook(service.runtime, team.id, receiver.url);
    await emit(service.runtime, team.id, ['one']);
    await settled(service, webhook);
    const none = { switched_off: null, last_failure: null, missed_since: null, missed: 0 };
    assert.deepEqual(await healthOf(idOf(webhook)), none);
    await team.api.put(`/v1/webhooks/${idOf(webhook)}`, { active: false });
    const off = { at: service.clock.now().toISOString(), by: 'request' };
    const health = await healthOf(idOf(webhook));
    assert.equal(health.switched_off?.by, off.by);
    assert.ok(String(health.switched_off?.at) <= off.at);
    assert.deepEqual([health.last_failure, health.missed_since], [null, null]);
    await team.api.delete(`/v1/webhooks/${idOf(webhook)}`);
  });

  it('the health of a webhook that failures disabled has the last failure and the time of the first missed event', async () => {
    const webhook = await addWebhook(service.runtime, team.id, receiver.url);
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['accepted']);
    await settled(service, webhook);
    receiver.behave(answering(503, 'no room'));
    await emit(
      service.runtime,
      team.id,
      Array.from({ length: 10 }, (_, n) => `failure ${n}`),
    );
    await until('it is off', async () => !(await stateOf(service, webhook)).isActive);
    // More deliveries without attempts than the query reads.
    await emit(
      service.runtime,
      team.id,
      Array.from({ length: 60 }, (_, n) => `while off ${n}`),
    );
    const health = await healthOf(idOf(webhook));
    const [, first] = await deliveriesOf(service, webhook);
    const last = (await attemptsOf(service, webhook)).at(-1);
    assert.ok(first && last);
    assert.equal(health.switched_off?.by, 'failures');
    const firstOfTen = (await attemptsOf(service, webhook)).at(-10);
    assert.equal(health.switched_off?.failing_since, firstOfTen?.startedAt.toISOString());
    assert.equal(health.missed, 70);
    assert.equal(health.last_failure?.id, publicId('att', last.id));
    assert.equal(health.last_failure?.delivery_id, publicId('dlv', last.deliveryId));
    assert.deepEqual([health.last_failure?.outcome, health.last_failure?.status_code], ['http_5xx', 503]);
    assert.equal(health.missed_since, first.createdAt.toISOString());
    await team.api.delete(`/v1/webhooks/${idOf(webhook)}`);
  });

  it('the last attempt of each webhook is known, also that of a test event', async () => {
    const other = await service.newTeam();
    const reader = await newMember(service, other, 'viewer');
    const { id } = await newWebhook(other.api);
    const { id: quiet } = await newWebhook(other.api);
    const last = async () => {
      const answer = await reader.get(reader.in('/webhooks/health'));
      assert.equal(answer.status, 200, answer.text);
      return (answer.json as unknown as LastAttempts).last_attempts.map(
        ({ webhook_id, test, outcome, status_code }) => [webhook_id, test, outcome, status_code],
      );
    };
    assert.deepEqual(await last(), []);
    const event = await newDelivery(service, other, id, { ageMs: 60_000, status: 'succeeded' });
    await newAttempt(service, other, event, { outcome: 'succeeded', statusCode: 200 });
    await newDelivery(service, other, quiet, { status: 'skipped' });
    assert.deepEqual(await last(), [[id, false, 'succeeded', 200]]);
    const test = await newDelivery(service, other, id, { isTest: true });
    await newAttempt(service, other, test);
    await queueMany(service, other, id, 10, 'skipped');
    assert.deepEqual(await last(), [[id, true, 'http_5xx', 500]]);
  });

  it('the last failure is found behind deliveries without attempts, and is never a test’s failure', async () => {
    const { id } = await newWebhook(team.api);
    const failed = await newDelivery(service, team, id, { ageMs: 60_000 });
    const attempt = await newAttempt(service, team, failed, { outcome: 'timeout', statusCode: null });
    await queueMany(service, team, id, 200, 'skipped');
    const test = await newDelivery(service, team, id, { isTest: true });
    await newAttempt(service, team, test);
    assert.equal((await healthOf(id)).last_failure?.id, attempt);
    await newAttempt(service, team, failed, { outcome: 'succeeded', statusCode: 200 });
    assert.equal((await healthOf(id)).last_failure, null, 'its latest attempt succeeded');
  });

  it('the request body of a delivery is the event’s, byte by byte, and null once the event is purged', async () => {
    receiver.behave(answering(200));
    const webhook = await addWebhook(service.runtime, team.id, receiver.url);
    const sent = receiver.received.length;
    await emit(service.runtime, team.id, ['Grüße "quoted" \u2028']);
    await settled(service, webhook);
    const [delivery] = await deliveriesOf(service, webhook);
    assert.ok(delivery);
    const id = publicId('dlv', delivery.id);
    assert.equal(await requestOf(idOf(webhook), id), receiver.received[sent]?.body.toString('utf8'));
    await dropEvent(service, delivery.eventId);
    assert.equal(await requestOf(idOf(webhook), id), null);
  });

  it('the request body of a test delivery is available until the delivery was sent', async () => {
    const { id } = await newWebhook(team.api, { url: receiver.url });
    const answers: (() => void)[] = [];
    receiver.behave((answer) => answers.push(() => answer.writeHead(200).end()));
    const { json } = await team.api.post(`/v1/webhooks/${id}/test`);
    await until('it arrives', () => answers.length === 1);
    const sample = JSON.parse(String(await requestOf(id, String(json.id))));
    assert.equal(sample.type, 'message.received');
    answers[0]?.();
    await settled(service, { id: uuidOf('wh', id) });
    assert.equal(await requestOf(id, String(json.id)), null);
  });
});
