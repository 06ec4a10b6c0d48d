import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import {
  chooseInstallWay,
  prepareInstallWay,
  publishedForms,
  readShortcutFile,
} from '#server/setup/install-way.ts';
import { ShortcutSigner } from '#server/setup/shortcut-signer.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, inbound, shortcuts } from '#shortcut/shortcuts.ts';
import { makeSigningCommand } from '#test/support/setup/signing-command.ts';

const olderLinks = {
  SHORTCUT_OUTBOX_URL: 'https://www.icloud.com/shortcuts/a1',
  SHORTCUT_INBOUND_URL: 'https://www.icloud.com/shortcuts/a2',
};
const newerLinks = {
  SHORTCUT_OUTBOX_27_URL: 'https://www.icloud.com/shortcuts/b1',
  SHORTCUT_INBOUND_27_URL: 'https://www.icloud.com/shortcuts/b2',
};

/** A server with these settings, and with signed files in these folders of its DATA_DIR. */
async function startServices(
  context: TestContext,
  settings: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
) {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-forms-'));
  context.after(() => rm(dataDir, { recursive: true }));
  for (const folder of folders) {
    await mkdir(join(dataDir, folder), { recursive: true });
    for (const { name } of shortcuts)
      await writeFile(join(dataDir, folder, `${name}.shortcut`), `AEA1 of ${folder}`);
  }
  const config = readConfig({ DATA_DIR: dataDir, PATH: process.env.PATH, ...settings });
  const services = { config, logger: createLogger('silent'), clock: new Clock() };
  const { shortcutSignCommand } = config;
  return { ...services, signer: shortcutSignCommand && new ShortcutSigner(services, shortcutSignCommand) };
}

describe('the shortcuts of each form', () => {
  it('each iOS range gets its best way to install the shortcuts, whatever the other iOS range has', async (context) => {
    const sign = { SHORTCUT_SIGN_COMMAND: 'sign {in} {out}' };
    for (const [settings, folders, expected] of [
      [{}, [], { 26: 'by_hand', 27: 'by_hand' }],
      [olderLinks, [], { 26: 'links', 27: 'by_hand' }],
      [newerLinks, ['shortcuts'], { 26: 'files', 27: 'links' }],
      [olderLinks, ['shortcuts', 'shortcuts/27'], { 26: 'links', 27: 'files' }],
      [{ ...sign, ...olderLinks }, [], { 26: 'signed', 27: 'signed' }],
    ] as const)
      assert.deepEqual(await publishedForms(await startServices(context, settings, folders)), expected);
  });

  it('an iPhone gets the links and files for its iOS range', async (context) => {
    const linked = await startServices(context, { ...olderLinks, ...newerLinks });
    for (const [form, { outbox }] of [
      [26, { outbox: olderLinks.SHORTCUT_OUTBOX_URL }],
      [27, { outbox: newerLinks.SHORTCUT_OUTBOX_27_URL }],
    ] as const) {
      const way = await chooseInstallWay(linked, undefined, form);
      assert.equal(way.kind === 'links' && way.outbox, outbox);
    }
    const filed = await startServices(context, {}, ['shortcuts', 'shortcuts/27']);
    assert.equal(String(await readShortcutFile(filed, inbound, undefined, 26)), 'AEA1 of shortcuts');
    assert.equal(String(await readShortcutFile(filed, inbound, undefined, 27)), 'AEA1 of shortcuts/27');
  });

  it('the signing command signs only the shortcuts for the requested iOS range', async (context) => {
    const command = await makeSigningCommand();
    context.after(command.remove);
    const services = await startServices(context, { SHORTCUT_SIGN_COMMAND: command.setting });
    const connection = { server: 'https://texts.example.com', deviceToken: 'dev_1' };
    const ready = { kind: 'signed', ready: true };
    assert.deepEqual(await prepareInstallWay(services, connection, 27), ready);
    assert.deepEqual(await chooseInstallWay(services, connection, 26), { kind: 'signed', ready: false });
    assert.equal(await readShortcutFile(services, inbound, connection, 26), undefined);
    assert.deepEqual(await prepareInstallWay(services, connection, 26), ready);
    assert.equal((await command.runs()).length, 4);
    for (const form of [26, 27] as const) {
      const file = await readShortcutFile(services, inbound, connection, form);
      const unsigned = writeBinaryPropertyList(buildWorkflow(inbound, connection, form));
      assert.deepEqual(file, Buffer.concat([Buffer.from('AEA1'), unsigned]));
    }
  });
});
