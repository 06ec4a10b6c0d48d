import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeKeysAndFingerprints } from '#server/messages/purge-messages.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber, DeviceWire, type FlatAnswer } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const from = '+12125550100';

describe('repeats of a run of Ownline Inbound (specification section 11.5)', () => {
  const { service, team } = givenTeam();

  const connect = async () => {
    const { wire, phoneNumber } = await connectNumber(service, team);
    const receive = async (text: string, run: string | undefined, sender = from): Promise<string> => {
      const answer: FlatAnswer = await wire.call('inbound', { from: sender, text, run });
      assert.equal(answer.ok, '1', JSON.stringify(answer));
      return String(answer.id);
    };
    const stored = async () => (await storedMessages(service, { to: phoneNumber })).length;
    return { wire, phoneNumber, receive, stored };
  };

  it('a repeated call of a run returns the same message for as long as a run can last', async () => {
    const { receive, stored } = await connect();
    const first = await receive('Yes', '481');
    for (let passed = 0; passed < 14; passed += 1) {
      service.clock.advance(60_000);
      await purgeKeysAndFingerprints(service.runtime);
      assert.equal(await receive('Yes', '481'), first, `after ${passed + 1} minutes`);
    }
    assert.equal(await stored(), 1);
  });

  it('equal texts of two runs more than a minute apart are two messages, and a late repeat returns the message of its own run', async () => {
    const { receive, stored } = await connect();
    const first = await receive('Yes', '1');
    service.clock.advance(61_000);
    const second = await receive('Yes', '2');
    assert.notEqual(second, first);
    service.clock.advance(61_000);
    assert.deepEqual([await receive('Yes', '1'), await receive('Yes', '2')], [first, second]);
    assert.equal(await stored(), 2);
  });

  it('a run that repeats its call for an hour gets its first message, although a later run with an equal text made another', async () => {
    const { receive } = await connect();
    const first = await receive('Yes', '1');
    service.clock.advance(61_000);
    const second = await receive('Yes', '2');
    for (const minutes of [10, 14, 14]) {
      service.clock.advance(minutes * 60_000);
      assert.equal(await receive('Yes', '1'), first, `${minutes} minutes after its latest call`);
    }
    assert.notEqual(second, first);
  });

  it('an equal text 50 minutes later is another message, although the clock was set back an hour between the two', async () => {
    const { receive } = await connect();
    const first = await receive('Yes', '1');
    service.clock.jump(-3_600_000);
    service.clock.advance(50 * 60_000);
    assert.notEqual(await receive('Yes', '2'), first);
    service.clock.jump(3_600_000);
  });

  it('several automations that fire for one text make one message, even if each of them repeats its call later', async () => {
    const { receive, stored } = await connect();
    const runs = ['1', '2', '3'];
    const ids = new Set(await Promise.all(runs.map((run) => receive('Yes please', run))));
    service.clock.advance(60_000);
    for (const run of runs) ids.add(await receive('Yes please', run));
    assert.deepEqual([ids.size, await stored()], [1, 1]);
  });

  it('equal texts are different messages once five minutes have passed since the first call', async () => {
    const { receive } = await connect();
    const ids: string[] = [];
    for (let passed = 0; passed <= 6; passed += 1) {
      ids.push(await receive('Yes', String(passed)));
      service.clock.advance(59_000);
    }
    assertEach(ids, (id) => id === ids[0], [true, true, true, true, true, true, false]);
  });

  it('a repeated call of a run extends the time in which other runs with an equal text get the same message', async () => {
    const { receive } = await connect();
    const first = await receive('Yes', '1');
    for (const run of ['1', '2']) {
      service.clock.advance(59_000);
      assert.equal(await receive('Yes', run), first, run);
    }
  });

  it('an equal text is marked as a possible repeat only if automations did not call, and for 72 hours', async () => {
    const { receive, phoneNumber } = await connect();
    // These two replies show that the automations of a space and of an e exist, so two calls are expected of a text.
    for (const [text, run] of [
      ['7 pm', '1'],
      ['Seen', '2'],
    ] as const)
      await receive(text, run);
    const cases = [
      { text: 'See us', runs: ['3', '4'], hours: 1, isMarked: undefined },
      { text: 'See me', runs: ['5'], hours: 1, isMarked: true },
      { text: 'See him', runs: ['6'], hours: 71.9, isMarked: true },
      { text: 'See her', runs: ['7'], hours: 72.1, isMarked: undefined },
    ];
    for (const { text, runs, hours, isMarked } of cases) {
      const earlier = await Promise.all(runs.map((run) => receive(text, run)));
      service.clock.advance(hours * 3_600_000);
      await purgeKeysAndFingerprints(service.runtime);
      const id = await receive(text, 'late');
      assert.ok(!earlier.includes(id), text);
      const { json } = await team.api.get(`/v1/messages/${id}`);
      const list = await team.api.get(`/v1/messages?limit=1&to=${encodeURIComponent(phoneNumber)}`);
      const event = (await storedEvents(service))
        .map(({ body }) => JSON.parse(body))
        .find(({ data }) => data.id === id);
      assert.deepEqual(
        [json.possible_repeat, field(list.json, 'messages.0.possible_repeat'), event.data.possible_repeat],
        [isMarked, isMarked, isMarked],
        text,
      );
    }
  });

  it('texts with the same run number are stored separately if text or sender differ', async () => {
    const { receive } = await connect();
    const ids = [
      await receive('Yes', '7'),
      await receive('No', '7'),
      await receive('Yes', '7', '+12125550101'),
    ];
    assert.equal(new Set(ids).size, 3);
  });

  it('a text without a run number counts as a repeat of the same text for a minute', async () => {
    const { receive } = await connect();
    for (const run of ['none', '', undefined]) {
      const first = await receive('Yes', run);
      assert.equal(await receive('Yes', run), first);
      service.clock.advance(61_000);
      assert.notEqual(await receive('Yes', run), first, String(run));
      service.clock.advance(61_000);
    }
  });

  it('simultaneous repeats of an inbound message on two processes make one message', async (t) => {
    const { wire, stored } = await connect();
    const other = await service.startAnother();
    t.after(() => other.close());
    const wires = [wire, new DeviceWire(other.baseUrl, wire.token)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        wires[n % 2]?.call('inbound', { from, text: 'Hello', run: String(n % 4) }),
      ),
    );
    assert.equal(new Set(answers.map((answer) => answer?.id)).size, 1);
    assert.equal(await stored(), 1);
  });

  it('a late repeat of a STOP does not opt out a contact that has opted in since', async () => {
    const { receive } = await connect();
    const contact = '+12125550177';
    const optedOut = async () => {
      const { json } = await team.api.get('/v1/opt-outs');
      return JSON.stringify(json).includes(contact);
    };
    await receive('STOP', '1', contact);
    assert.ok(await optedOut());
    await receive('START', '2', contact);
    await receive('STOP', '1', contact);
    assert.ok(!(await optedOut()), 'the same STOP');
    await receive('STOP', '3', contact);
    assert.ok(await optedOut(), 'another STOP within a minute');
  });
});
