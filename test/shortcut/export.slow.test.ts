import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseBuffer } from 'bplist-parser';
import { parse } from 'plist';
import { buildWorkflow, inbound, outbox } from '#shortcut/shortcuts.ts';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('ownline shortcut export (specification section 11.11)', () => {
  const { service, team } = givenTeam();
  const commands = given(() => new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl }));
  const folder = givenFolder('ownline-export-');

  const names = ['Ownline Inbound.shortcut', 'Ownline Outbox.shortcut'];
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  const read = async (path: string) => plain(parseBuffer(await readFile(path))[0]);
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
  const setupLink = async () => {
    const phoneNumber = newPhoneNumber();
    const answer = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    return { phoneNumber, setupUrl: String(answer.json.setup_url) };
  };

  it('the export writes both files into a new folder without address and token, and needs no running server', async () => {
    const to = join(folder, 'new', 'generic');
    const alone = new CommandLine(join(folder, 'no server here'));
    const result = await alone.json('shortcut', 'export', '--to', to);
    assert.deepEqual((await readdir(to)).sort(), names);
    for (const shortcut of [outbox, inbound]) {
      const path = join(to, `${shortcut.name}.shortcut`);
      assert.deepEqual(await read(path), plain(buildWorkflow(shortcut, undefined, 27)));
    }
    assert.deepEqual([result.has_token, result.phone_number, result.server], [false, '', '']);
    assertEach(
      result.files,
      ({ name, path }: { name: string; path: string }) => [name, path],
      [outbox, inbound].map(({ name }) => [name, join(to, `${name}.shortcut`)]),
    );
    for (const { name, sign_command: command } of result.files)
      assert.equal(
        command,
        `shortcuts sign --mode anyone --input "${name}.shortcut" --output "signed/${name}.shortcut"`,
      );
  });

  it('the export writes XML files with --xml, and files without automations with --ios 26', async () => {
    const to = join(folder, 'xml');
    await commands.json('shortcut', 'export', '--to', to, '--ios', '26', '--xml');
    const xml = await readFile(join(to, 'Ownline Outbox.shortcut'), 'utf8');
    assert.deepEqual(plain(parse(xml)), buildWorkflow(outbox));
  });

  it('files exported with a setup link replace older ones, contain address and token, and are for their owner only (§11.11/embedded)', async () => {
    const to = join(folder, 'own');
    await commands.json('shortcut', 'export', '--to', to);
    const older = join(to, 'Ownline Outbox.shortcut');
    assert.equal(await modeOf(older), 0o644);
    const { phoneNumber, setupUrl } = await setupLink();
    const result = await commands.json('shortcut', 'export', '--to', to, '--setup-url', setupUrl);
    assert.deepEqual(
      [result.has_token, result.phone_number, result.server],
      [true, phoneNumber, service.baseUrl],
    );
    const claimed = await fetch(`${service.baseUrl}/v1/device/claim`, {
      method: 'POST',
      body: JSON.stringify({ token: setupUrl.split('/').at(-1) }),
    });
    const { device_token: deviceToken } = (await claimed.json()) as { device_token: string };
    const connection = { server: service.baseUrl, deviceToken };
    assert.deepEqual(await read(older), plain(buildWorkflow(outbox, connection, 27)));
    for (const name of names) assert.equal(await modeOf(join(to, name)), 0o600);
  });

  it('the export explains how to sign the files and, for files with a token, that they are secret and need https', async () => {
    const to = join(folder, 'words');
    const generic = await commands.run(['shortcut', 'export', '--to', to]);
    assert.equal(generic.code, 0, generic.errors);
    assert.match(generic.output, /shortcuts sign --mode anyone/);
    assert.match(generic.output, /no address and no token/);
    assert.match(generic.output, /needs macOS 27/);
    const { setupUrl, phoneNumber } = await setupLink();
    const own = await commands.run(['shortcut', 'export', '--to', to, '--setup-url', '-'], {}, setupUrl);
    assert.equal(own.code, 0, own.errors);
    assert.ok(own.output.includes(`the device token of ${phoneNumber}`));
    assert.match(own.output, /never as an iCloud link/);
    assert.match(own.output, /needs an https address/);
    assert.ok(!/dev_/.test(own.output));
  });

  it('the export fails with an error that names a folder it cannot create, or a wrong setup link', async () => {
    const file = join(folder, 'a file');
    await writeFile(file, '');
    const unwritable = await commands.run(['shortcut', 'export', '--to', join(file, 'below')]);
    assert.deepEqual([unwritable.code, unwritable.output], [1, '']);
    assert.match(unwritable.errors, /^The files can't be written to /);
    const wrong = await commands.run([
      ...['shortcut', 'export', '--to', folder, '--setup-url', `${service.baseUrl}/setup/wrong`],
    ]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.errors, /did not take this setup link|setup link/);
  });
});
