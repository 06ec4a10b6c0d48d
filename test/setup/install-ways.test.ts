import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseBuffer } from 'bplist-parser';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, outbox, shortcuts } from '#shortcut/shortcuts.ts';
import { countDevices } from '#test/support/devices/stored-devices.ts';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { type OpenedPage, openSetupPage, shownToken } from '#test/support/setup/setup-page.ts';
import { makeSigningCommand } from '#test/support/setup/signing-command.ts';

const names = shortcuts.map(({ name }) => name);
const filePath = (name: string) => `/files/${encodeURIComponent(name)}.shortcut`;

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

/** Writes the signed files of an operator into DATA_DIR. */
async function putSignedFiles({ dataDir }: TestService, bytesOf: (name: string) => string): Promise<void> {
  await mkdir(join(dataDir, 'shortcuts'), { recursive: true });
  for (const name of names) await writeFile(join(dataDir, 'shortcuts', `${name}.shortcut`), bytesOf(name));
}

/** Reads the setup codes that a page's copy buttons would copy. */
const copiedCodes = ({ html }: OpenedPage): unknown[] =>
  [...html.matchAll(/data-copy="(\{[^"]+device_token[^"]+)"/g)].map(([, code = '']) =>
    JSON.parse(code.replaceAll('&quot;', '"').replaceAll('&#34;', '"')),
  );

const offers = ({ html }: OpenedPage, href: string) => html.includes(`href="${href}"`);

async function download(setupUrl: string, name: string) {
  const response = await fetch(`${setupUrl}${filePath(name)}`);
  return {
    status: response.status,
    headers: response.headers,
    body: Buffer.from(await response.arrayBuffer()),
  };
}

describe('ways to install the shortcuts (specification section 11.8)', () => {
  it('links to the shortcuts are shown after a click, with the setup code, and come before signed files (§11.8/ways)', async (context) => {
    const { service, setupUrl } = await startSetup(context, links);
    await putSignedFiles(service, () => 'AEA1 of the operator');
    const before = await openSetupPage({ setupUrl });
    for (const link of Object.values(links))
      assert.ok(!offers(before, link), 'without the code it is of no use');
    const page = await openSetupPage({ setupUrl, form: {} });
    for (const link of Object.values(links)) assert.ok(offers(page, link));
    const code = { server: service.baseUrl, device_token: shownToken(page) };
    assert.deepEqual(copiedCodes(page), [code, code], 'before each of the buttons');
    assert.equal((await download(setupUrl, 'Ownline Outbox')).status, 404);
  });

  it('signed files of DATA_DIR are downloads with the shortcut’s name while the setup link is open (§11.8/ways)', async (context) => {
    const { service, setupUrl } = await startSetup(context);
    await putSignedFiles(service, (name) => `AEA1 ${name}`);
    const page = await openSetupPage({ setupUrl, form: {} });
    const { pathname } = new URL(setupUrl);
    for (const name of names) {
      assert.ok(offers(page, `${pathname}${filePath(name)}`));
      const { status, headers, body } = await download(setupUrl, name);
      assert.deepEqual([status, String(body)], [200, `AEA1 ${name}`]);
      assert.equal(headers.get('content-type'), 'application/x-apple-shortcut');
      assert.equal(headers.get('content-disposition'), `attachment; filename="${name}.shortcut"`);
    }
    assert.equal((await download(setupUrl, 'Another')).status, 404);
    assert.equal((await download(setupUrl, '../secrets')).status, 404);
    await openSetupPage({ setupUrl, path: '/done', form: {} });
    assert.equal((await download(setupUrl, 'Ownline Outbox')).status, 404);
  });

  it('a missing or unsigned file is not offered, and the page shows the next way to install (§11.8/ways)', async (context) => {
    const { service, setupUrl } = await startSetup(context);
    const isByHand = async () =>
      /must be prepared by the operator of this server/.test((await openSetupPage({ setupUrl })).html);
    assert.ok(await isByHand(), 'there is none');
    const permission = /Let both run while the iPhone is locked/;
    assert.doesNotMatch(
      (await openSetupPage({ setupUrl })).html,
      permission,
      'of shortcuts that are not there',
    );
    await putSignedFiles(service, () => 'bplist00, and no signature');
    assert.ok(await isByHand(), 'not signed');
    await putSignedFiles(service, () => 'AEA1');
    assert.ok(!(await isByHand()));
    assert.doesNotMatch((await openSetupPage({ setupUrl })).html, permission, 'before the click');
    assert.match((await openSetupPage({ setupUrl, form: {} })).html, permission);
    await rm(join(service.dataDir, 'shortcuts/Ownline Inbound.shortcut'));
    assert.ok(await isByHand(), 'one of two');
  });

  it('a click runs the signing command for both files with address and token, and opening the page does not (§11.8/ways)', async (context) => {
    const command = await makeSigningCommand();
    context.after(command.remove);
    const { service, setupUrl } = await startSetup(context, {
      ...links,
      SHORTCUT_SIGN_COMMAND: command.setting,
    });
    await putSignedFiles(service, () => 'AEA1 of the operator');
    const before = await openSetupPage({ setupUrl });
    assert.match(before.html, /Prepare the shortcuts/);
    assert.equal((await download(setupUrl, 'Ownline Outbox')).status, 404);
    assert.deepEqual(await command.runs(), []);
    assert.equal(await countDevices(service, setupUrl), 0);
    const page = await openSetupPage({ setupUrl, form: {} });
    assert.equal((await command.runs()).length, 2);
    const connection = { server: service.baseUrl, deviceToken: shownToken(page) };
    for (const shortcut of shortcuts) {
      assert.ok(offers(page, `${new URL(setupUrl).pathname}${filePath(shortcut.name)}`));
      const { body } = await download(setupUrl, shortcut.name);
      const workflow = buildWorkflow(shortcut, connection);
      assert.deepEqual(body, Buffer.concat([Buffer.from('AEA1'), writeBinaryPropertyList(workflow)]));
      assert.deepEqual(parseBuffer(body.subarray(4))[0], JSON.parse(JSON.stringify(workflow)));
    }
    const reopened = await openSetupPage({ setupUrl });
    assert.ok(offers(reopened, `${new URL(setupUrl).pathname}${filePath(outbox.name)}`), 'ready');
    assert.equal((await command.runs()).length, 2, 'each was signed once');
  });

  it('the page reports a failed signing command, and lists the steps to build the shortcuts by hand (§11.8/ways)', async (context) => {
    const command = await makeSigningCommand('echo "log in to the Mac" >&2; exit 1');
    context.after(command.remove);
    const { service, setupUrl } = await startSetup(context, { SHORTCUT_SIGN_COMMAND: command.setting });
    const page = await openSetupPage({ setupUrl, form: {} });
    assert.equal(page.status, 200);
    assert.match(page.html, /The shortcuts could not be prepared[\s\S]*build both shortcuts by hand/);
    assert.ok(page.html.includes(shownToken(page)));
    const failed = /The shortcuts could not be prepared/;
    assert.match((await openSetupPage({ setupUrl, form: {} })).html, failed);
    assert.match((await openSetupPage({ setupUrl })).html, failed);
    assert.equal((await command.runs()).length, 1);
    service.clock.advance(5 * 60_000);
    assert.match((await openSetupPage({ setupUrl })).html, /Prepare the shortcuts/, 'it may be tried again');
  });

  it('the page offers the operator’s links and files after a failed signing command (§11.8/ways)', async (context) => {
    const command = await makeSigningCommand('exit 1');
    context.after(command.remove);
    for (const settings of [links, {}]) {
      const { service, setupUrl } = await startSetup(context, {
        ...settings,
        SHORTCUT_SIGN_COMMAND: command.setting,
      });
      await putSignedFiles(service, () => 'AEA1 of the operator');
      const page = await openSetupPage({ setupUrl, form: {} });
      const file = `${new URL(setupUrl).pathname}${filePath(outbox.name)}`;
      assert.ok(offers(page, 'SHORTCUT_OUTBOX_URL' in settings ? links.SHORTCUT_OUTBOX_URL : file));
      assert.doesNotMatch(page.html, /could not be prepared/);
      assert.equal(copiedCodes(page).length, 2);
    }
  });

  it('only the click that asks for the shortcuts runs the signing command, no other form and no download (§11.8/sign-command)', async (context) => {
    const command = await makeSigningCommand();
    context.after(command.remove);
    const { service, setupUrl } = await startSetup(context, { SHORTCUT_SIGN_COMMAND: command.setting });
    await openSetupPage({ setupUrl, form: {} });
    assert.equal((await command.runs()).length, 2);
    await rm(join(service.dataDir, 'shortcuts/signed'), { recursive: true });
    for (const path of ['/lock-test', '/test-text']) {
      const { html } = await openSetupPage({ setupUrl, path, form: { token: 'shown', to: '+14155550123' } });
      assert.match(html, /Prepare the shortcuts/, path);
    }
    assert.match((await openSetupPage({ setupUrl })).html, /Prepare the shortcuts/);
    assert.equal((await download(setupUrl, outbox.name)).status, 404);
    assert.equal((await command.runs()).length, 2);
  });
});
