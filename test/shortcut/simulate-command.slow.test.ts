import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { startShortcutWorld } from '#test/support/shortcuts/shortcut-world.ts';

describe('ownline phone simulate', () => {
  const world = given(startShortcutWorld);
  const commands = given(
    () => new CommandLine(world.service.dataDir, { DATABASE_URL: world.service.databaseUrl }),
  );

  /** Runs the command with a phone that handles one message. @returns the lines that the command prints */
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
    it(`ownline phone simulate runs ${title}, and prints the same lines as in its other mode`, async () => {
      const { lines, id, message } = await simulate(...options);
      assert.equal(lines[0].did, 'claimed');
      assert.deepEqual(lines.slice(1), [sent(id), reported(id, 'delivered'), reported(id, 'sent')]);
      assert.equal(message.status, 'delivered');
    });
  }

  it('ownline phone simulate --fail-rate uses a plain client, because a shortcut cannot report failures', async () => {
    const { lines, id, message } = await simulate('--fail-rate', '1');
    assertEach(lines, ({ did }) => did, ['claimed', 'failed', 'reported']);
    assert.deepEqual(lines[2], reported(id, 'failed'));
    assert.equal(message.error_code, 'device_error');
  });
});
