import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { purgeKeysAndFingerprints } from '#server/messages/purge-messages.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { connectNumber, type DeviceWire, type FlatAnswer } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('inbound messages (specification section 11.5)', () => {
  const { service, team } = givenTeam();

  const connect = () => connectNumber(service, team);
  const from = '+12125550100';
  const messageOf = async (answer: FlatAnswer) => {
    assert.equal(answer.ok, '1', JSON.stringify(answer));
    return (await team.api.get(`/v1/messages/${answer.id}`)).json;
  };

  it('an inbound message is stored as received, with its event (§3.1/received)', async () => {
    const { wire, phoneNumber } = await connect();
    const answer = await wire.call('inbound', { from, text: 'Yes 👍', v: '1' });
    const message = await messageOf(answer);
    assert.deepEqual(
      [message.from, message.to, message.content, message.status, message.direction],
      ['+12125550100', phoneNumber, 'Yes 👍', 'received', 'inbound'],
    );
    const events = await storedEvents(service);
    assert.equal(events.length, 1);
    const envelope = JSON.parse(events[0]?.body ?? '');
    assert.equal(envelope.type, 'message.received');
    assert.deepEqual(envelope.data, {
      id: answer.id,
      from: '+12125550100',
      to: phoneNumber,
      content: 'Yes 👍',
      media_url: null,
      received_at: message.created_at,
    });
  });

  it('an inbound message with several recipients is marked as a group message, in its object, the list and its event', async () => {
    const { wire, phoneNumber } = await connect();
    const others = ['+12125550101', '+12125550102'];
    const cases: [recipients: unknown, isGroup: boolean][] = [
      [`${phoneNumber}\n${others[0]}`, true],
      [[phoneNumber, others[0]], true],
      [others.join(', '), true],
      ['Ada Example; Grace Example', true],
      [phoneNumber, false],
      [`${phoneNumber}\n+12125550100`, false],
      [`${phoneNumber}\n${phoneNumber}`, false],
      ['Ada Example', false],
      ['none', false],
      ['', false],
      [undefined, false],
    ];
    for (const [n, [recipients, isGroup]] of cases.entries()) {
      const answer = await wire.call('inbound', { from, text: `Hello ${n}`, recipients });
      const expected = isGroup ? true : undefined;
      const label = JSON.stringify(recipients);
      assert.equal((await messageOf(answer)).group, expected, label);
      const { json } = await team.api.get('/v1/messages?limit=1');
      assert.deepEqual(
        [field(json, 'messages.0.id'), field(json, 'messages.0.group')],
        [answer.id, expected],
        label,
      );
      const event = (await storedEvents(service))
        .map(({ body }) => JSON.parse(body))
        .find(({ data }) => data.id === answer.id);
      assert.equal(event?.data.group, expected, label);
    }
  });

  it('the same sender and text count as one message until a minute after the latest call', async () => {
    const { wire } = await connect();
    const text = { from, text: 'Yes' };
    const first = await wire.call('inbound', text);
    service.clock.advance(59_000);
    await purgeKeysAndFingerprints(service.runtime);
    assert.equal((await wire.call('inbound', text)).id, first.id);
    assert.notEqual((await wire.call('inbound', { ...text, text: 'No' })).id, first.id);
    assert.notEqual((await wire.call('inbound', { ...text, from: '+12125550101' })).id, first.id);
    service.clock.advance(59_000);
    assert.equal((await wire.call('inbound', text)).id, first.id, 'a minute after the latest call');
    service.clock.advance(61_000);
    assert.notEqual((await wire.call('inbound', text)).id, first.id);
  });

  it('repeats with one device-given id are one message for ever', async () => {
    const { wire } = await connect();
    const first = await wire.call('inbound', { from, text: 'Hello', id: 'A-1' });
    const second = await wire.call('inbound', { from, text: 'Hello', id: 'A-2' });
    assert.notEqual(second.id, first.id, 'another id is another message, even at once');
    service.clock.advance(30 * 24 * 3_600_000);
    assert.equal((await wire.call('inbound', { from, text: 'Hello', id: 'A-1' })).id, first.id);
  });

  it('a device-given id that is “none”, empty or missing counts as no id, so different texts are different messages', async () => {
    const { wire } = await connect();
    const answers: FlatAnswer[] = [];
    for (const id of ['none', '']) {
      for (const text of ['one', 'two'])
        answers.push(await wire.call('inbound', { from, text: `${text} ${id}`, id }));
    }
    assert.equal(new Set(answers.map((answer) => answer.id)).size, 4);
    const repeat = await wire.call('inbound', { from, text: 'one none' });
    assert.equal(repeat.id, answers[0]?.id);
  });

  it('equal texts or equal device-given ids at two numbers are two messages', async () => {
    const one = await connect();
    const other = await connect();
    for (const id of ['none', 'A-1']) {
      const text = { from, text: 'to both', id };
      assert.notEqual((await one.wire.call('inbound', text)).id, (await other.wire.call('inbound', text)).id);
    }
  });

  it('a sender’s local number becomes E.164, a mail address lower case, and any other handle stays as it is (§2.1/phone-numbers)', async () => {
    const cases: [string, string, string][] = [
      ['+4930231250', '80808', '80808'],
      ['+4930231250', '22 000', '22 000'],
      ['+4930231250', '0049 30 23125 002', '+493023125002'],
      ['+4930231250', '030 23125 001', '+493023125001'],
      ['+4930231250', '00 80808', '00 80808'],
      ['+4930231250', '+2024', '+2024'],
      ['+4318171', '2024', '2024'],
      ['+442079460957', '07700 900123', '+447700900123'],
      ['+442079460957', '60066', '60066'],
      ['+14155550199', '(415) 555-0101', '+14155550101'],
      ['+14155550199', '555-0101', '555-0101'],
      ['+14155550199', 'Someone@Example.com', 'someone@example.com'],
      ['+14155550199', '+12125550102\n+12125550103', '+12125550102'],
    ];
    const wires = new Map<string, DeviceWire>();
    for (const [own, reported, kept] of cases) {
      const wire = wires.get(own) ?? (await connectNumber(service, team, own)).wire;
      wires.set(own, wire);
      const message = await messageOf(await wire.call('inbound', { from: reported, text: reported }));
      assert.equal(message.from, kept, `${reported} at ${own}`);
    }
  });

  it('a sender that is “none”, empty or missing is stored as an empty sender', async () => {
    const { wire } = await connect();
    const answers = [];
    for (const sender of [{ from: 'none' }, { from: ' none ' }, { from: '' }, {}])
      answers.push(await wire.call('inbound', { ...sender, text: 'from nobody' }));
    for (const answer of answers) {
      assert.equal((await messageOf(answer)).from, '');
      assert.equal(answer.id, answers[0]?.id);
    }
    const named = await wire.call('inbound', { from: 'None', text: 'from nobody' });
    assert.equal((await messageOf(named)).from, 'None', 'a name is a handle like any other');
  });

  it('every inbound text is accepted, and characters that PostgreSQL can’t store become U+FFFD (§2.6/content)', async () => {
    const { wire } = await connect();
    const odd = await messageOf(
      await wire.call('inbound', '{"from":"+12125550100","text":"a\\u0000b\\ud800c"}'),
    );
    assert.equal(odd.content, 'a\ufffdb\ufffdc');
    const long = 'x'.repeat(200_000);
    assert.equal((await messageOf(await wire.call('inbound', { from, text: long }))).content, long);
    for (const text of ['', 'none']) {
      assert.equal((await messageOf(await wire.call('inbound', { from, text }))).content, text);
    }
  });

  it('a sender or device-given id of any length is accepted, and the first 320 characters of a sender are stored and searchable', async () => {
    const { wire } = await connect();
    // The text is random, because PostgreSQL would compress a repeated text until it fits an index entry.
    const noise = (characters: number) => randomBytes(characters).toString('hex').slice(0, characters);
    const sender = `${'👍'.repeat(300)}${noise(3_000)}`;
    const kept = [...sender].slice(0, 320).join('');
    const first = await wire.call('inbound', { from: sender, text: 'Yes' });
    assert.equal((await messageOf(first)).from, kept);
    assert.equal((await wire.call('inbound', { from: sender, text: 'Yes' })).id, first.id);
    const second = await wire.call('inbound', { from: `${sender}2`, text: 'Yes' });
    assert.notEqual(second.id, first.id, 'another sender, though what is kept of it is the same');
    const list = await team.api.get(`/v1/messages?from=${encodeURIComponent(kept)}`);
    const listed = list.json.messages as { id: string }[];
    assertEach(listed, ({ id }) => id, [second.id, first.id]);
    const id = noise(4_000);
    const third = await wire.call('inbound', { from, text: 'a', id: `${id}1` });
    const fourth = await wire.call('inbound', { from, text: 'b', id: `${id}2` });
    assert.equal((await messageOf(fourth)).content, 'b');
    assert.equal((await wire.call('inbound', { from, text: 'a', id: `${id}1` })).id, third.id);
  });

  it('a number or boolean is read as text, and a list as its texts with one per line (section 11.1)', async () => {
    const { wire } = await connect();
    const cases: [unknown, unknown, string, string][] = [
      [['+12125550104', '+12125550105'], 'a', '+12125550104', 'a'],
      [12125550106, ['b', 'c'], '+12125550106', 'b\nc'],
      ['+12125550107', true, '+12125550107', 'true'],
      ['+12125550107', false, '+12125550107', 'false'],
      [[null, { deep: 'x' }, 'Example\u0000Bank'], 0, 'Example\ufffdBank', '0'],
      ['+12125550108', null, '+12125550108', ''],
      ['+12125550109', [], '+12125550109', ''],
    ];
    for (const [sender, text, keptFrom, keptText] of cases) {
      const message = await messageOf(await wire.call('inbound', { from: sender, text }));
      assert.deepEqual([message.from, message.content], [keptFrom, keptText], JSON.stringify([sender, text]));
    }
  });

  it('a paused number still receives messages, and a deleted number does not (§3.3/pause-and-resume, §4.6/deleted-number)', async () => {
    const { wire, numberId } = await connect();
    await team.api.put(`/v1/numbers/${numberId}`, { status: 'paused' });
    assert.equal((await wire.call('inbound', { from, text: 'while paused' })).ok, '1');
    await team.api.delete(`/v1/numbers/${numberId}`);
    const answer = await wire.call('inbound', { from, text: 'STOP' });
    assert.deepEqual(answer, { ok: '0', reason: 'deleted' });
    assert.deepEqual((await team.api.get('/v1/opt-outs')).json.opt_outs, []);
  });

  it('a poll is accepted with any Content-Type, with unknown fields and with values that are not texts (§9/frozen-device-protocol)', async () => {
    const { wire } = await connect();
    const response = await fetch(`${service.baseUrl}/v1/device/poll`, {
      method: 'POST',
      headers: {
        'x-device-token': wire.token,
        'content-type': 'application/x-www-form-urlencoded; charset=ibm866',
      },
      body: JSON.stringify({ session: wire.session, last: null, v: 2, later: { deep: [] } }),
    });
    const answer = (await response.json()) as FlatAnswer;
    assert.equal(answer.action, 'idle');
    assert.ok(Object.values(answer).every((value) => typeof value === 'string'));
  });
});
