import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MessageLog } from '#contract/message.ts';
import type { DeliveryLog } from '#contract/webhook.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { newAttempt, newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

const to = '+14155550199';

describe('lists with more fields for members', () => {
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const viewer = given(() => newMember(service, team, 'viewer'));

  it('the dashboard’s lists of messages have the error_code, and those of /v1 have none', async () => {
    const { phoneNumber: from } = await connectNumber(service, team);
    const waiting = await team.api.send({ from, to, content: 'One' });
    const cancelled = await team.api.send({ from, to, content: 'Two' });
    assert.equal((await team.api.post(`/v1/messages/${cancelled}/cancel`)).status, 200);
    const read = async (query: string) => {
      const { status, json, text } = await viewer.get(viewer.in(`/messages?limit=1${query}`));
      assert.equal(status, 200, text);
      return json as unknown as MessageLog;
    };
    const codes = ({ messages }: MessageLog) => messages.map(({ id, error_code }) => [id, error_code]);
    const first = await read('');
    assert.deepEqual(codes(first), [[cancelled, 'cancelled']]);
    assert.deepEqual(codes(await read(`&cursor=${first.cursor}`)), [[waiting, null]]);
    assert.deepEqual(codes(await read('&status=queued')), [[waiting, null]]);
    assert.deepEqual(codes(await read('&status=failed')), [[cancelled, 'cancelled']]);
    const { json } = await team.api.get('/v1/messages');
    for (const message of (json as unknown as MessageLog).messages) assert.ok(!('error_code' in message));
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
