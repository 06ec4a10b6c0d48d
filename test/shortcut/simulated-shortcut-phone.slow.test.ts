import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ShortcutPhone } from '#simulated-phone/shortcut-phone.ts';
import type { PhoneLine } from '#simulated-phone/simulated-phone.ts';
import { messagesInFlight } from '#test/support/messages/stored-messages.ts';
import { claim, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { startShortcutWorld } from '#test/support/shortcuts/shortcut-world.ts';

describe('a simulated phone that runs the shortcuts', () => {
  const world = given(startShortcutWorld);

  const newPhone = async (
    options: { count?: number; reportsDelivery?: boolean; deviceToken?: string; server?: string } = {},
  ) => {
    const phoneNumber = newPhoneNumber();
    const verify = await world.team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const wire = await claim(world.team.api, String(verify.json.setup_url));
    const lines: PhoneLine[] = [];
    const phone = new ShortcutPhone({
      server: world.service.baseUrl,
      deviceToken: wire.token,
      ...options,
      onLine: (line) => lines.push(line),
    });
    return { phone, phoneNumber, lines, wire };
  };

  for (const reportsDelivery of [false, true]) {
    const word = reportsDelivery ? 'delivered' : 'sent';
    it(`the simulated phone prints the same lines as a plain client, ends after its count of ${word} messages, and takes no more`, async () => {
      const { phone, phoneNumber, lines } = await newPhone({ count: 2, reportsDelivery });
      const running = phone.run();
      await world.untilVerified({ phoneNumber });
      const ids: string[] = [];
      for (const content of ['one', 'two', 'three']) ids.push(await world.send({ phoneNumber }, content));
      await running;
      const [one, two, three] = ids as [string, string, string];
      const done = (id: string, text: string) => [
        { did: 'sent', id, to: '+12125550100', text },
        ...(reportsDelivery ? [{ did: 'reported', id, status: 'delivered' }] : []),
        { did: 'reported', id, status: 'sent' },
      ];
      assert.deepEqual(lines, [...done(one, 'one'), ...done(two, 'two')]);
      assert.deepEqual(
        await Promise.all([one, two, three].map(async (id) => (await world.messageOf(id)).status)),
        [word, word, 'queued'],
      );
      assert.deepEqual(await messagesInFlight(world.service), []);
    });
  }

  it('the simulated phone posts texts and group recipients through Ownline Inbound, and prints the id of each text', async () => {
    const { phone, phoneNumber, lines } = await newPhone();
    const recipients = '+12125550101, +12125550102';
    const id = await phone.receive({ from: '+12125550100', text: 'Yes', recipients });
    assert.deepEqual(lines, [{ did: 'received', id, from: '+12125550100', text: 'Yes' }]);
    const message = await world.messageOf(String(id));
    assert.deepEqual([message.to, message.content, message.group], [phoneNumber, 'Yes', true]);
  });

  it('the simulated phone prints the reason of a stop and ends, and throws if the server permanently refuses a text', async () => {
    const { phone, lines } = await newPhone({ deviceToken: 'dev_wrong' });
    await phone.run();
    assert.deepEqual(lines, [{ did: 'stopped', reason: 'unauthorized' }]);
    await assert.rejects(phone.receive({ from: '+12125550100', text: 'Yes' }), /unauthorized/);
  });

  it('the simulated phone prints a lost connection with the time until the shortcut is started again', async () => {
    const { phone, phoneNumber, lines, wire } = await newPhone({ server: world.proxy.url });
    const running = phone.run();
    await world.untilVerified({ phoneNumber });
    await world.proxy.breakPoll(wire.token);
    await until('the line is there', () => lines.length > 0);
    phone.switchOff();
    await running;
    const [line] = lines;
    assert.ok(line?.did === 'waited');
    assert.match(line.reason, /^no answer: it closed the connection/);
    assert.equal(line.seconds, 15);
  });
});

describe('ownline phone simulate', () => {
  const world = given(startShortcutWorld);
  const commands = given(
    () => new CommandLine(world.service.dataDir, { DATABASE_URL: world.service.databaseUrl }),
  );

  /** Runs the command with a phone that handles one message, and returns its lines. */
  const simulate = async (...options: string[]) => {
    const phoneNumber = newPhoneNumber();
    const verify = await world.team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const setupUrl = String(verify.json.setup_url);
    const words = ['phone', 'simulate', '--setup-url', setupUrl, '--count', '1', '--json', ...options];
    const running = commands.run(words);
    await world.untilVerified({ phoneNumber });
    const id = await world.send({ phoneNumber }, 'Hello "Ann" 👋');
    const { code, output, errors } = await running;
    assert.equal(code, 0, errors);
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return { lines, id, message: await world.messageOf(id) };
  };
  const sent = (id: string) => ({ did: 'sent', id, to: '+12125550100', text: 'Hello "Ann" 👋' });
  const reported = (id: string, status: string) => ({ did: 'reported', id, status });

  for (const [title, options] of [
    ['the shortcuts', []],
    ['a plain client of the protocol', ['--protocol']],
  ] as const) {
    it(`ownline phone simulate runs ${title}, and prints the same lines in both ways`, async () => {
      const { lines, id, message } = await simulate(...options);
      assert.equal(lines[0].did, 'claimed');
      assert.deepEqual(lines.slice(1), [sent(id), reported(id, 'delivered'), reported(id, 'sent')]);
      assert.equal(message.status, 'delivered');
    });
  }

  it('ownline phone simulate --fail-rate runs a plain client of the protocol, as a shortcut cannot report failures', async () => {
    const { lines, id, message } = await simulate('--fail-rate', '1');
    assertEach(lines, ({ did }) => did, ['claimed', 'failed', 'reported']);
    assert.deepEqual(lines[2], reported(id, 'failed'));
    assert.equal(message.error_code, 'device_error');
  });
});
