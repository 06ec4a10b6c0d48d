import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { given } from '#test/support/service/given.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';
import { type ShortcutLine, startShortcutWorld } from '#test/support/shortcuts/shortcut-world.ts';

describe('the file of Ownline Inbound, run against the service (specification section 11.5)', () => {
  const world = given(startShortcutWorld);
  afterEach(() => world.switchOffPhones());

  const message = (content: string, recipients: readonly string[] = []) => ({
    sender: '+12125550100',
    content,
    recipients,
  });
  const received = async ({ phoneNumber }: ShortcutLine) => {
    const { json } = await world.team.api.get(`/v1/messages?to=${encodeURIComponent(phoneNumber)}&limit=100`);
    return Array.isArray(json.messages) ? json.messages : [];
  };
  const contents = async (line: ShortcutLine) => (await received(line)).map(({ content }) => content);

  it('a received text is stored word for word with its sender, and the run ends (§11.11/inbound)', async () => {
    const line = await world.runningLine();
    const words = 'Yes "please" 👍\nsecond line, ses_ {"ok":"0"} <b>';
    assert.deepEqual(await endOf(line.phone.receive(message(words))), { kind: 'completed' });
    const [stored] = await received(line);
    assert.deepEqual(
      [stored.from, stored.to, stored.content, stored.status],
      ['+12125550100', line.phoneNumber, words, 'received'],
    );
  });

  it('several automations that fire for one received text make one message', async () => {
    const line = await world.runningLine();
    const ends = await Promise.all([1, 2, 3].map(() => endOf(line.phone.receive(message('Yes')))));
    assert.deepEqual(
      ends,
      [1, 2, 3].map(() => ({ kind: 'completed' })),
    );
    assert.deepEqual(await contents(line), ['Yes']);
  });

  it('a received text whose answers were lost for a minute is stored once (§11.11/inbound)', async () => {
    const line = await world.newLine();
    for (let lost = 0; lost < 4; lost += 1) world.proxy.next('lose_answer', 'inbound');
    const run = line.phone.receive(message('Yes'));
    for (let lost = 0; lost < 4; lost += 1) {
      await line.phone.clock.pass(15_000);
      world.service.clock.advance(15_000);
    }
    assert.deepEqual(await endOf(run), { kind: 'completed' });
    assert.deepEqual(await contents(line), ['Yes']);
    world.service.clock.advance(61_000);
    await endOf(line.phone.receive(message('Yes')));
    assert.deepEqual(await contents(line), ['Yes', 'Yes'], 'a second text');
  });

  it('Ownline Inbound ends at once if the server permanently refuses the text (§11.11/inbound)', async () => {
    const phone = new ShortcutPhone({ setupCode: setupCodeOf(world.proxy.url, 'dev_wrong') });
    assert.deepEqual(await endOf(phone.receive(message('for no one'))), { kind: 'completed' });
    const line = await world.newLine();
    assert.equal((await world.team.api.delete(`/v1/numbers/${line.numberId}`)).status, 200);
    assert.deepEqual(await endOf(line.phone.receive(message('too late'))), { kind: 'completed' });
  });

  it('Ownline Inbound tries for more than two minutes without an answer, and for less than the four minutes of an automation (§11.11/inbound)', async () => {
    const line = await world.newLine();
    for (let round = 0; round < 9; round += 1) world.proxy.next('error_page', 'inbound');
    const run = line.phone.receive(message('in an outage'));
    for (let round = 0; round < 9; round += 1) await line.phone.clock.pass(15_000);
    assert.deepEqual(await endOf(run), { kind: 'completed' });
    assert.deepEqual(await contents(line), ['in an outage']);
    for (let round = 0; round < 10; round += 1) world.proxy.next('error_page', 'inbound');
    const longer = line.phone.receive(message('in a longer one'));
    for (let round = 0; round < 9; round += 1) await line.phone.clock.pass(15_000);
    assert.deepEqual(await endOf(longer), { kind: 'completed' });
    assert.deepEqual(await contents(line), ['in an outage']);
  });

  it('each of several texts in one run of Ownline Inbound becomes a message, also a text without a sender or after a refused one', async () => {
    const line = await world.newLine();
    assert.deepEqual(await endOf(line.phone.receive()), { kind: 'completed' });
    assert.deepEqual(await received(line), []);
    const input = [
      { sender: '', content: 'from nobody', recipients: [] },
      { sender: 'Anna@Example.com', content: 'from an address', recipients: [] },
      message('x'.repeat(1_100_000)),
      message('the last one'),
    ];
    assert.deepEqual(await endOf(line.phone.receive(...input)), { kind: 'completed' });
    const stored = (await received(line)).map(({ from, content }) => [from, content]);
    assert.deepEqual(stored.toReversed(), [
      ['', 'from nobody'],
      ['anna@example.com', 'from an address'],
      ['+12125550100', 'the last one'],
    ]);
  });
});
