import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventType, eventTypes } from '#contract/event.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { writtenDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

const contact = '+14155550101';

describe('events of contacts (specification sections 6.1 and 6.2)', () => {
  // The deliveries stay pending: no process has the role to attempt them.
  const service = givenService({ ROLES: 'api' });

  it('contact events go to the webhooks that subscribe to them, and an event of an inbound text also to the webhooks of its number (§6.1/one-per-change, §6.3/request-format)', async () => {
    for (const plan of ['free', 'pro'] as const) {
      const { id: teamId, ...team } = await service.newTeam({ plan });
      const number = await connectNumber(service, { id: teamId, ...team }, newPhoneNumber());
      const { phoneNumber } = number;
      const put = async (types: readonly EventType[], options = {}) =>
        (await putWebhook(service, teamId, types, options)).id;
      const both = await put(['contact.opted_out', 'contact.opted_in']);
      const all = await put(eventTypes, { phoneNumber });
      const outs = await put(['contact.opted_out']);
      await put(['message.sent', 'message.failed']);
      await put(eventTypes, { phoneNumber: newPhoneNumber() });
      for (const text of ['STOP', 'START']) await number.wire.call('inbound', { from: contact, text });
      const written = await writtenDeliveries(service, teamId);
      const webhooksOf = (type: EventType) =>
        written.flatMap(({ eventType, webhookId }) => (eventType === type ? [webhookId] : [])).sort();
      assert.deepEqual(webhooksOf('contact.opted_out'), [both, all, outs].sort());
      assert.deepEqual(webhooksOf('contact.opted_in'), [both, all].sort());
      assert.equal(webhooksOf('message.received').length, 2);
    }
  });
});
