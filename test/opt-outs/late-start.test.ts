import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventType, eventTypes } from '#contract/event.ts';
import { contactEventsOf } from '#test/support/events/stored-events.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { writtenDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

const day = 86_400_000;

/** Texts, with the days before each. `by`: a request opts out. `id`: from the device. `isOther`: to another number. */
interface Step {
  readonly days?: number;
  readonly text?: string;
  readonly by?: 'request';
  readonly id?: string;
  readonly isOther?: true;
}

const cases: readonly (readonly [title: string, isOptedOut: boolean, steps: readonly Step[]])[] = [
  ['START, STOP, START', true, [{ text: 'START' }, { text: 'STOP' }, { text: 'START' }]],
  [
    'the same within 7 days',
    true,
    [{ text: 'START' }, { days: 3, text: 'STOP' }, { days: 3.9, text: 'START' }],
  ],
  ['the same later', false, [{ text: 'START' }, { days: 3, text: 'STOP' }, { days: 4.1, text: 'START' }]],
  ['a request instead of a STOP', true, [{ text: 'START' }, { by: 'request' }, { text: 'START' }]],
  ['STOP, START', false, [{ text: 'STOP' }, { text: 'START' }]],
  ['STOP, START, START', false, [{ text: 'STOP' }, { text: 'START' }, { days: 1, text: 'START' }]],
  ['UNSTOP after START', false, [{ text: 'START' }, { text: 'STOP' }, { text: 'START' }, { text: 'UNSTOP' }]],
  ['another spelling', false, [{ text: 'START' }, { text: 'STOP' }, { text: 'Start!' }]],
  ['another number', false, [{ text: 'START' }, { text: 'STOP' }, { text: 'START', isOther: true }]],
  ['ids of the device', false, [{ text: 'START', id: '1' }, { text: 'STOP' }, { text: 'START', id: '2' }]],
  ['a late STOP', true, [{ text: 'STOP' }, { text: 'START' }, { days: 2, text: 'STOP' }]],
];

describe('a START that may be a late repeat (specification section 4.6)', () => {
  const { service, team } = givenTeam({ ROLES: 'api' });
  const number = given(() => connectNumber(service, team));
  const other = given(() => connectNumber(service, team));

  const optOutOf = async (contact: string) => {
    const { json } = await team.api.get('/v1/opt-outs');
    const optOuts = json.opt_outs as { readonly contact: string; readonly ignored_start_at: string | null }[];
    return optOuts.find((optOut) => optOut.contact === contact);
  };

  for (const [index, [title, isOptedOut, steps]] of cases.entries()) {
    it(`after ${title} the contact is ${isOptedOut ? 'opted out' : 'opted in'} (§4.6/late-start)`, async () => {
      const from = `+1212555${String(index).padStart(4, '0')}`;
      for (const { days = 0.1, text, by, id, isOther } of steps) {
        service.clock.advance(days * day);
        if (by) await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(from)}`);
        else await (isOther ? other : number).wire.call('inbound', { from, text, id });
      }
      assert.equal((await optOutOf(from)) !== undefined, isOptedOut);
    });
  }

  it('an ignored START is stored, marked and shown with the opt-out, until the contact opts in or out again (§4.6/late-start)', async () => {
    const from = '+12125550900';
    const receive = async (text: string) => {
      service.clock.advance(day);
      const { id } = await number.wire.call('inbound', { from, text });
      return (await team.api.get(`/v1/messages/${id}`)).json;
    };
    assert.equal((await receive('START')).possible_repeat, undefined);
    await receive('STOP');
    const before = (await contactEventsOf(service, team.id)).length;
    const late = await receive('START');
    assert.equal(late.possible_repeat, true);
    assert.equal((await optOutOf(from))?.ignored_start_at, late.created_at);
    assert.equal((await contactEventsOf(service, team.id)).length, before, 'no event of the contact');
    const address = `/v1/opt-outs/${encodeURIComponent(from)}`;
    assert.equal(field((await team.api.request('PUT', address)).json, 'ignored_start_at'), late.created_at);
    assert.equal((await team.api.delete(address)).status, 200);
    await receive('Quit');
    assert.equal((await optOutOf(from))?.ignored_start_at, null, 'another opt-out');
  });

  it('a START with the same message as one before the opt-out is noted if another run posts it, and not if the same run repeats it (§4.6/late-start)', async () => {
    const from = '+12125550901';
    const receive = async (text: string, run: string) => {
      service.clock.advance(10_000);
      return (await number.wire.call('inbound', { from, text, run })).id;
    };
    const id = await receive('START', '1');
    await receive('STOP', '2');
    assert.equal(await receive('START', '1'), id);
    assert.equal((await optOutOf(from))?.ignored_start_at, null);
    assert.equal(await receive('START', '3'), id);
    assert.ok((await optOutOf(from))?.ignored_start_at);
  });
});

const contact = '+14155550101';

describe('events of contacts (specification sections 6.1 and 6.2)', () => {
  // The deliveries stay pending: no process has the role to attempt them.
  const service = givenService({ ROLES: 'api' });

  it('contact events go to the webhooks that subscribe, and texts to a number also to the number’s webhooks (§6.1/one-per-change, §6.3/request-format)', async () => {
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
