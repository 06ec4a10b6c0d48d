import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type EventType, eventTypes } from '#contract/event.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { passWatchedTime } from '#test/support/numbers/pass-served-time.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const from = '+14155550100';
const contact = '+14155550101';

describe('the examples of docs/events.md (§6.2/envelope, §6.2/message-received, §6.2/message-sent, §6.2/message-delivered, §6.2/message-failed, §6.2/contact-events, §6.2/number-events)', () => {
  // No sweep runs in the background: the test calls the round that watches the numbers.
  const { service, team } = givenTeam({ ROLES: 'api' });
  const page = given(() => PageBlocks.read('docs/events.md'));
  /** The first body of each type. The feed and webhooks have these bytes. */
  const examples = new Map<EventType, string>();

  before(async () => {
    const { wire, numberId } = await connectNumber(service, team, from);
    const send = (content: string) => team.api.send({ from, to: contact, content });
    await team.api.put(`/v1/numbers/${numberId}`, { label: 'Support' });
    const id = await send('Your appointment is on Tuesday at 10. Is that fine?');
    await wire.poll();
    await wire.poll({ last: id });
    await wire.call('status', { id, status: 'delivered' });
    await wire.call('inbound', { from: contact, text: 'Yes, see you then' });
    const failed = await send('See you on Tuesday.');
    await wire.poll();
    await wire.poll({ last: failed, last_status: 'failed', last_error: 'no network' });
    await wire.call('inbound', { from: contact, text: 'STOP' });
    await team.api.delete(`/v1/opt-outs/${encodeURIComponent(contact)}`);
    await send('We are open again.');
    await passWatchedTime(service, 330_000);
    await wire.poll();
    await passWatchedTime(service, 30_000);
    for (const { type, body } of await storedEvents(service, { teamId: team.id }))
      if (!examples.has(type)) examples.set(type, body);
  });

  for (const type of eventTypes)
    it(`the example of ${type} has the fields and values of a real event`, () => {
      assert.equal(printedShape(examples.get(type) ?? '{}'), printedShape(page.one(`json ${type}`)));
    });
});
