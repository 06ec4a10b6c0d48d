import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseBuffer } from 'bplist-parser';
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
import { countDevices } from '#test/support/devices/stored-devices.ts';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { act, openPage, readState, tokenOf } from '#test/support/setup/setup-page.ts';
import { makeSigningCommand } from '#test/support/setup/signing-command.ts';

async function startSetup(context: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const service = await startTestService(settings);
  context.after(() => service.close());
  const { api } = await service.newTeam();
  const verify = await api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
  return { service, setupUrl: String(verify.json.setup_url) };
}

const links = {
  SHORTCUT_OUTBOX_URL: 'https://www.icloud.com/shortcuts/0123456789abcdef0123456789abcdef',
  SHORTCUT_INBOUND_URL: 'https://www.icloud.com/shortcuts/fedcba9876543210fedcba9876543210',
};
const linked = { kind: 'links', outbox: links.SHORTCUT_OUTBOX_URL, inbound: links.SHORTCUT_INBOUND_URL };
const ready = { kind: 'signed', ready: true };
const unready = { kind: 'signed', ready: false };

/** Writes the signed files of an operator into DATA_DIR. */
async function putSignedFiles({ dataDir }: TestService, bytesOf: (name: string) => string): Promise<void> {
  await mkdir(join(dataDir, 'shortcuts'), { recursive: true });
  for (const { name } of shortcuts)
    await writeFile(join(dataDir, 'shortcuts', `${name}.shortcut`), bytesOf(name));
}

/** Reads the ways to install the shortcuts for iOS 17 to 26 and for iOS 27. */
const waysOf = async (setupUrl: string) => {
  const { install } = (await readState(setupUrl)).state;
  return [install[26], install[27]];
};
const download = (setupUrl: string, name: string, form = 26) =>
  openPage(setupUrl, `/files/${form}/${encodeURIComponent(name)}.shortcut`);

describe('ways to install the shortcuts', () => {
  it('links are preferred to signed files, and the setup code to paste has the token of the claim', async (context) => {
    const { service, setupUrl } = await startSetup(context, links);
    await putSignedFiles(service, () => 'AEA1 of the operator');
    assert.deepEqual(await waysOf(setupUrl), [linked, { kind: 'by_hand', failed: false }]);
    const { state } = await act(setupUrl, 'claim', { form: 26 });
    assert.deepEqual(JSON.parse(state.code ?? ''), {
      server: service.baseUrl,
      device_token: tokenOf(state),
    });
    assert.equal((await download(setupUrl, 'Ownline Outbox')).status, 404);
  });

  it('signed files in DATA_DIR can be downloaded under the shortcut’s name while the setup link is open', async (context) => {
    const { service, setupUrl } = await startSetup(context);
    await putSignedFiles(service, (name) => `AEA1 ${name}`);
    for (const { name } of shortcuts) {
      const { status, headers, html } = await download(setupUrl, name);
      assert.deepEqual([status, html], [200, `AEA1 ${name}`]);
      assert.equal(headers.get('content-type'), 'application/x-apple-shortcut');
      assert.equal(headers.get('content-disposition'), `attachment; filename="${name}.shortcut"`);
    }
    for (const [name, form] of [
      ['Another', 26],
      ['../secrets', 26],
      ['Ownline Outbox', 27],
      ['Ownline Outbox', 25],
    ] as const)
      assert.equal((await download(setupUrl, name, form)).status, 404, `${form}/${name}`);
    await act(setupUrl, 'done');
    assert.equal((await download(setupUrl, 'Ownline Outbox')).status, 404);
  });

  it('a missing or unsigned shortcut file is not offered', async (context) => {
    const { service, setupUrl } = await startSetup(context);
    const kind = async () => (await waysOf(setupUrl))[0]?.kind;
    assert.equal(await kind(), 'by_hand', 'there is none');
    await putSignedFiles(service, () => 'bplist00, and no signature');
    assert.equal(await kind(), 'by_hand', 'not signed');
    await putSignedFiles(service, () => 'AEA1');
    assert.equal(await kind(), 'files');
    await rm(join(service.dataDir, 'shortcuts/Ownline Inbound.shortcut'));
    assert.equal(await kind(), 'by_hand', 'one of two');
  });

  it('a click runs the signing command for both files, with address and token in them, and nothing else runs it (§11.8/sign-command)', async (context) => {
    const command = await makeSigningCommand();
    context.after(command.remove);
    const settings = { ...links, SHORTCUT_SIGN_COMMAND: command.setting };
    const { service, setupUrl } = await startSetup(context, settings);
    assert.deepEqual(await waysOf(setupUrl), [unready, unready]);
    assert.equal((await download(setupUrl, 'Ownline Outbox', 27)).status, 404);
    assert.deepEqual([await command.runs(), await countDevices(service, setupUrl)], [[], 0]);
    const { state } = await act(setupUrl, 'claim', { form: 27 });
    const connection = { server: service.baseUrl, deviceToken: tokenOf(state) };
    for (const shortcut of shortcuts) {
      const { bytes } = await download(setupUrl, shortcut.name, 27);
      const workflow = buildWorkflow(shortcut, connection, 27);
      assert.deepEqual(bytes, Buffer.concat([Buffer.from('AEA1'), writeBinaryPropertyList(workflow)]));
      assert.deepEqual(parseBuffer(bytes.subarray(4))[0]?.WFWorkflowTriggers?.length > 0, true);
    }
    await rm(join(service.dataDir, 'shortcuts/signed'), { recursive: true });
    for (const [action, body] of [
      ['form', { form: 26 }],
      ['lock-test', {}],
      ['test-text', { to: '+14155550123' }],
    ] as const)
      await act(setupUrl, action, body);
    assert.deepEqual(await waysOf(setupUrl), [unready, unready]);
    assert.equal((await download(setupUrl, 'Ownline Outbox', 27)).status, 404);
    assert.equal((await command.runs()).length, 2, 'each was signed once');
    await act(setupUrl, 'claim', { form: 26 });
    assert.deepEqual(await waysOf(setupUrl), [ready, unready]);
  });

  it('for five minutes after a failed signing command the page offers links, else files, else the list to build by hand', async (context) => {
    const command = await makeSigningCommand('echo "log in to the Mac" >&2; exit 1');
    context.after(command.remove);
    for (const [settings, hasFiles, next] of [
      [links, true, linked],
      [{}, true, { kind: 'files' }],
      [{}, false, { kind: 'by_hand', failed: true }],
    ] as const) {
      const signing = { ...settings, SHORTCUT_SIGN_COMMAND: command.setting };
      const { service, setupUrl } = await startSetup(context, signing);
      if (hasFiles) await putSignedFiles(service, () => 'AEA1 of the operator');
      const runs = (await command.runs()).length;
      for (let clicks = 0; clicks < 2; clicks += 1) {
        const answer = await act(setupUrl, 'claim', { form: 26 });
        assert.deepEqual([answer.status, answer.state.install[26]], [200, next]);
      }
      assert.equal((await command.runs()).length, runs + 1);
      service.clock.advance(5 * 60_000);
      assert.deepEqual((await waysOf(setupUrl))[0], unready, 'it may be tried again');
    }
  });
});

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
  it('each form has the first way that there is for it, whatever the other one has', async (context) => {
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

  it('links and files are those of the form', async (context) => {
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

  it('the signing command signs the form that is asked for, and no other', async (context) => {
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
