import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { contactEventsOf, storedEvents } from '#test/support/events/stored-events.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { acceptedOf, sentByDay } from '#test/support/usage/stored-usage.ts';

const contact = '+14155550101';

describe('keywords of inbound messages (specification section 4.6)', () => {
  const service = givenService();
  const team = givenEach(() => service.newTeam());
  const number = givenEach(() => connectNumber(service, team, newPhoneNumber()));
  const other = givenEach(() => connectNumber(service, team, newPhoneNumber()));

  const receive = async (text: string, { from = contact, through = number, ...fields } = {}) => {
    // After a minute the same text does not count as a repeat.
    service.clock.advance(61_000);
    const answer = await through.wire.call('inbound', { from, text, ...fields });
    assert.equal(answer.ok, '1', JSON.stringify(answer));
    return answer.id ?? '';
  };
  const send = (from = number, to = contact) =>
    team.api.post('/v1/messages/send', { from: from.phoneNumber, to, content: 'Hello' });
  const get = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const contactEvents = (of = team) => contactEventsOf(service, of.id);

  it('a send to a contact that texted STOP is refused from every number of the team, and from no other team’s (§4.6/contact, §4.6/inbound-keywords, §4.6/refused-sends, §4.3/from-and-to)', async () => {
    assert.equal((await send()).status, 202);
    const id = await receive('Stop!');
    assert.equal((await get(id)).content, 'Stop!');
    for (const from of [number, other]) {
      const answer = await send(from);
      assert.equal(answer.status, 400, answer.text);
      assertEach(['code', 'param', 'opted_out_at'], (name) => field(answer.json, `error.${name}`), [
        'invalid_request',
        'to',
        (await get(id)).created_at,
      ]);
      const message = String(field(answer.json, 'error.message'));
      for (const part of [
        contact,
        id,
        number.phoneNumber,
        (await get(id)).created_at,
        'DELETE /v1/opt-outs/%2B14155550101',
      ])
        assert.ok(message.includes(String(part)), message);
    }
    assert.equal((await send(number, '+14155550102')).status, 202);
    const stranger = await service.newTeam();
    const theirs = await connectNumber(service, stranger, newPhoneNumber());
    await stranger.api.send({ from: theirs.phoneNumber, to: contact, content: 'Hello' });
  });

  it('START opts a contact in again: sends are accepted, and messages that failed stay failed (§4.6/keywords)', async () => {
    const failed = String((await send()).json.id);
    await receive('STOP');
    await receive('start');
    assert.equal((await get(failed)).status, 'failed');
    const id = String((await send()).json.id);
    assert.equal((await number.wire.poll()).id, id);
  });

  it('STOP, START and STOP within a minute leave the contact opted out, and a late repeat with a device-given id changes nothing (§4.6/inbound-keywords)', async () => {
    const now = async (text: string, id?: string) =>
      number.wire.call('inbound', { from: contact, text, ...(id === undefined ? {} : { id }) });
    const first = await now('STOP');
    await now('START');
    assert.equal((await now('STOP')).id, first.id, 'one message');
    assert.equal((await send()).status, 400);
    assertEach(await contactEvents(), ({ type, sequence }) => [type, sequence], [
      ['contact.opted_out', 1],
      ['contact.opted_in', 2],
      ['contact.opted_out', 3],
    ]);
    service.clock.advance(61_000);
    await now('Quit', 'one');
    await now('Start', 'two');
    await now('Quit', 'one');
    assert.equal((await send()).status, 202);
  });

  it('each change of an opt-out makes one event and one audit entry, and a repeated keyword makes none (§4.6/inbound-keywords, §6.1/one-per-change, §6.2/envelope)', async () => {
    const first = await receive('START');
    assert.deepEqual(await contactEvents(), [], 'a contact that never opted out');
    assert.equal((await get(first)).status, 'received');
    const ids = [];
    for (const text of ['STOP', 'Unsubscribe', 'Start', 'UNSTOP', 'quit']) ids.push(await receive(text));
    const events = await contactEvents();
    assertEach(events, ({ type, sequence, data }) => [type, sequence, data.message_id], [
      ['contact.opted_out', 1, ids[0]],
      ['contact.opted_in', 2, ids[2]],
      ['contact.opted_out', 3, ids[4]],
    ]);
    for (const { data, team_id, api_version } of events) {
      assert.deepEqual(Object.keys(data), ['contact', 'phone_number', 'message_id', 'at']);
      assert.deepEqual([data.contact, data.phone_number], [contact, number.phoneNumber]);
      assert.deepEqual([team_id, api_version], [team.publicId, 'v1']);
      assert.equal(data.at, (await get(String(data.message_id))).created_at);
    }
    const entries = (await storedAuditEntries(service, { teamId: team.id })).filter(({ action }) =>
      action.startsWith('contact.'),
    );
    assertEach(entries, ({ action, actorKind, details, outcome }) => [action, actorKind, details, outcome], [
      ['contact.opted_out', 'server', { message_id: ids[0] }, 'done'],
      ['contact.opted_in', 'server', { message_id: ids[2] }, 'done'],
      ['contact.opted_out', 'server', { message_id: ids[4] }, 'done'],
    ]);
    assert.match(entries[0]?.target ?? '', /^opt_/);
    assert.equal(entries[0]?.target, entries[1]?.target, 'the opt-in ends that opt-out');
    assert.notEqual(entries[2]?.target, entries[0]?.target);
    assert.ok(!JSON.stringify(entries).includes(contact), 'the log is never deleted, so it holds no handle');
  });

  it('STOP fails and refunds the contact’s queued messages, and does not change the message in flight (§3.1/failed, §3.2/opted-out, §3.2/refund, §4.6/queued-messages)', async () => {
    const handedOut = String((await send()).json.id);
    assert.equal((await number.wire.poll()).id, handedOut);
    const waiting = [await send(), await send(), await send(other)].map(({ json }) => String(json.id));
    const unrelated = String((await send(number, '+14155550102')).json.id);
    assert.equal(await acceptedOf(service, team.id), 5);
    await receive('STOP', { through: other });
    for (const id of waiting) {
      const message = await get(id);
      assert.deepEqual(
        [message.status, message.error_code, message.may_have_been_sent],
        ['failed', 'opted_out', false],
      );
      assert.equal(
        message.error_message,
        'The recipient opted out before a phone picked the message up. Send them nothing until they opt in.',
      );
    }
    assert.equal(await acceptedOf(service, team.id), 2);
    assert.deepEqual(await sentByDay(service, team.id), [2]);
    assert.equal((await get(unrelated)).status, 'queued');
    assert.equal((await number.wire.poll({ last: handedOut })).id, unrelated);
    assert.equal((await get(handedOut)).status, 'sent');
    const failures = (await storedEvents(service, { teamId: team.id })).filter(
      ({ type }) => type === 'message.failed',
    );
    assert.equal(failures.length, waiting.length);
  });

  it('STOP in a group message opts its sender out, and nothing is sent in answer (§4.6/inbound-keywords)', async () => {
    const id = await receive('STOP', {
      recipients: `+14155550102\n+14155550103\n${number.phoneNumber}`,
    } as object);
    assert.equal((await get(id)).group, true);
    assert.equal((await send()).status, 400);
    assert.equal((await number.wire.poll()).action, 'idle', 'nothing is sent in answer');
  });

  it('a contact with any handle can opt out by text, whatever its length and kind', async () => {
    for (const from of ['262626', 'Ada Lovelace', `${'İ'.repeat(319)}@`, '👋'.repeat(400), '\u200e'])
      await receive('STOP', { from });
    assert.equal((await contactEvents()).length, 5);
  });

  it('texts that are no keyword, and a STOP without a sender, change nothing (§4.6/keywords, §4.6/inbound-keywords)', async () => {
    await receive('STOP', { from: 'none' });
    for (const text of ['Cancel', 'stop please', "don't stop", 'Fine', 'Ok']) await receive(text);
    assert.deepEqual(await contactEvents(), []);
    assert.equal((await send()).status, 202);
  });

  it('a refused send to an opted-out contact does not count, and a repeat with a known Idempotency-Key still gets its answer (§4.6/refused-sends, §4.3/idempotency-key, §7.2/check-order)', async () => {
    const one = await service.newTeam({ monthlyLimit: 1 });
    const phone = await connectNumber(service, one, newPhoneNumber());
    const body = { from: phone.phoneNumber, to: contact, content: 'Hello' };
    const post = (fields = {}, key?: string) =>
      one.api.post(
        '/v1/messages/send',
        { ...body, ...fields },
        key === undefined ? {} : { 'idempotency-key': key },
      );
    const accepted = await post({}, 'first');
    assert.equal(accepted.status, 202);
    service.clock.advance(61_000);
    await phone.wire.call('inbound', { from: contact, text: 'STOP' });
    assert.equal(await acceptedOf(service, one.id), 0);
    const repeated = await post({}, 'first');
    assert.deepEqual([repeated.status, repeated.json.id], [202, accepted.json.id]);
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    const paramOf = async (answer: ReturnType<typeof post>) => field((await answer).json, 'error.param');
    assert.equal(await paramOf(post({ content: 'Other' }, 'first')), 'Idempotency-Key');
    assert.equal(await paramOf(post({}, 'second')), 'to');
    assert.equal(await paramOf(post({ from: '+14155559999' })), 'from');
    assert.equal(await paramOf(post({ content: ' ' })), 'content');
    assert.equal(await acceptedOf(service, one.id), 0);
    // The refused send did not use up its idempotency key, so another send may use the key.
    assert.equal((await post({ to: '+14155550102' }, 'second')).status, 202);
    // The monthly limit is reached, but a send to an opted-out contact is answered 400, not 402.
    assert.equal((await post()).status, 400);
    assert.equal((await post({ to: '+14155550103' })).status, 402);
  });

  it('only the sends of a batch that go to the opted-out contact are refused (§4.6/refused-sends)', async () => {
    await receive('STOP');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => send(number, n % 2 ? contact : `+1415555${String(3000 + n)}`)),
    );
    answers.forEach(({ status }, n) => {
      assert.equal(status, n % 2 ? 400 : 202);
    });
    assert.equal(await acceptedOf(service, team.id), 20);
  });
});
