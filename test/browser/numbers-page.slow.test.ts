import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { shortcuts } from '#shortcut/shortcuts.ts';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { claim, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const to = '+14155550199';

/** Writes files that the server accepts as signed, as an operator puts them into DATA_DIR. */
async function putSignedFiles(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name } of shortcuts) await writeFile(join(folder, `${name}.shortcut`), 'AEA1');
}

describe('the pages of numbers in a browser', () => {
  const { service, browser, open } = givenBrowserTeam({
    PACING: 'gentle',
    // Setup links begin with this address, because an iPhone could reach it. No test here opens a setup link.
    APP_URL: 'http://192.168.1.20:{port}',
  });
  const local = givenService();

  async function newSetting(): Promise<{ readonly team: TestTeam; readonly owner: TeamMember }> {
    const team = await service.newTeam();
    return { team, owner: await newMember(service, team, 'owner', { name: 'Ada Example' }) };
  }

  const card = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

  /** Asks for a setup link in the dialog Connect an iPhone. */
  async function createLink(page: Page, phoneNumber: string) {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Number of the iPhone').fill(phoneNumber);
    await dialog.getByRole('button', { name: 'Create setup link' }).click();
    return dialog;
  }

  /** Reads the dialog's QR code and checks that it equals the link beside it. */
  async function scan(page: Page): Promise<string> {
    const dialog = page.getByRole('dialog');
    const code = dialog.getByRole('img', { name: 'QR code of the setup link' });
    await code.waitFor();
    const scanned = await readQrCode(browser, code);
    assert.equal(scanned, await dialog.locator('pre').innerText());
    assert.match(scanned ?? '', /\/setup\/[\w-]{20,}$/);
    return scanned ?? '';
  }

  it('the QR code connects an iPhone, and the page follows its progress', async () => {
    const { team, owner } = await newSetting();
    const page = await open(owner, '/numbers');
    await page.getByRole('button', { name: 'Connect an iPhone' }).click();
    await page.getByText('iOS 18 and newer: Settings › Apps › Phone').waitFor();
    const dialog = await createLink(page, `+1 (415) 555-${newPhoneNumber().slice(-4)}`);
    const setupUrl = await scan(page);
    await assertSound(page, 'dashboard-numbers-connect-code');
    await page.keyboard.press('Escape');
    await page.mouse.click(3, 3);
    assert.equal(await dialog.locator('pre').innerText(), setupUrl, 'kept until a button closes it');

    const wire = await claim(team.api, setupUrl);
    await dialog.getByText('It has opened the link.').waitFor();
    assert.equal(await dialog.locator('pre').count(), 0, 'the link is taken');
    await wire.poll({ device_name: 'Front desk' });
    await dialog.getByText('Front desk is connected').waitFor();
    await assertSound(page, 'dashboard-numbers-connect-done');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    const connected = card(page, 'Front desk');
    await connected.getByText('Online').waitFor();
    assert.match(await connected.innerText(), /Ready to send\. Receiving is not tested yet\./);
    await connected.getByRole('link', { name: 'Test receiving' }).waitFor();
    await wire.call('inbound', { from: to, text: 'Is it still for sale?' });
    await connected.getByText('Ready to send and receive.').waitFor();
    await connected.getByRole('link').first().click();
    await page.getByText('Texts arrive', { exact: true }).waitFor();
    await assertSound(page, 'dashboard-number-receives');
  });

  it("the dialog shows the setup's progress after a return from the setup page on the same iPhone", async () => {
    const team = await local.newTeam();
    const owner = await newMember(local, team, 'owner');
    const page = await open(owner, '/numbers?connect=true', { look: phone });
    const dialog = await createLink(page, newPhoneNumber());
    const setupUrl = await dialog.locator('pre').innerText();
    await page.goto(setupUrl);
    await page.goBack();
    await dialog.getByText('The setup link was shown once.').waitFor();
    const wire = await claim(team.api, setupUrl);
    await dialog.getByText('It has opened the link.').waitFor();
    await page.goto(setupUrl);
    await page.goBack();
    await dialog.getByText('It has opened the link.').waitFor();
    await wire.poll({ device_name: 'Front desk' });
    await dialog.getByText('Front desk is connected').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();

    const { numberId } = await connectNumber(local, team);
    const reconnecting = await open(owner, `/numbers/${numberId}?setup=true`, { look: phone });
    await reconnecting.getByRole('button', { name: 'Create setup link' }).click();
    await reconnecting.locator('[role=dialog] pre').waitFor();
    await reconnecting.reload();
    await reconnecting.getByRole('button', { name: 'Create another link' }).click();
    await reconnecting.locator('[role=dialog] pre').waitFor();
  });

  it('the dialog of a setup link with a local address warns that no iPhone reaches it, and shows no QR code', async () => {
    const owner = await newMember(local, await local.newTeam(), 'owner');
    const page = await open(owner, '/numbers?connect=true', { look: phone });
    const dialog = await createLink(page, newPhoneNumber());
    await dialog.getByText('No iPhone reaches 127.0.0.1').waitFor();
    await assertSound(page, 'dashboard-numbers-connect-unreachable');
    assert.match(await dialog.locator('pre').innerText(), /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await dialog.getByRole('img').count(), 0, 'no QR code');
    assert.equal(await dialog.getByText('Open on this iPhone').count(), 0);
  });

  it('a note above the QR code names the shortcuts that are not published, with a message to send to the operator', async () => {
    const owner = await newMember(service, await service.newTeam(), 'owner');
    for (const [folders, title, settings] of [
      [
        [],
        'The shortcuts are not published yet',
        /set SHORTCUT_OUTBOX_URL and \S+, SHORTCUT_OUTBOX_27_URL and/,
      ],
      [
        ['shortcuts'],
        'The shortcuts for iOS 27 are not published yet',
        /set SHORTCUT_OUTBOX_27_URL and \S+_27_URL;/,
      ],
      [
        ['shortcuts/27'],
        'The shortcuts for iOS 17 to 26 are not published yet',
        /set SHORTCUT_OUTBOX_URL and \S+_URL;/,
      ],
      [['shortcuts', 'shortcuts/27'], undefined, undefined],
    ] as const) {
      for (const folder of folders) await putSignedFiles(join(service.dataDir, folder));
      const page = await open(owner, '/numbers?connect=true');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const dialog = await createLink(page, newPhoneNumber());
      if (title) await dialog.getByText(title, { exact: true }).waitFor();
      await scan(page);
      const copy = dialog.getByRole('button', { name: 'Copy a message for the operator' });
      assert.equal(await copy.count(), title ? 1 : 0);
      await assertSound(
        page,
        `dashboard-numbers-connect-published-${folders.join('-').replaceAll('/', '-')}`,
      );
      if (settings) {
        await copy.click();
        await dialog.getByText('Copied', { exact: true }).waitFor();
        assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), settings);
      }
      await rm(join(service.dataDir, 'shortcuts'), { recursive: true, force: true });
    }
  });

  it('a number is paused, refuses sends, is resumed and labelled', async () => {
    const { team, owner } = await newSetting();
    const { phoneNumber, numberId } = await connectNumber(service, team);
    const send = async () =>
      (await team.api.post('/v1/messages/send', { from: phoneNumber, to, content: 'Hi' })).status;
    assert.equal(await send(), 202);
    const page = await open(owner, '/numbers', { look: phone });
    const pausing = page.getByRole('switch', { name: /Send from/ });
    await pausing.click();
    const one = card(page, 'Test iPhone');
    await one.getByText('Paused', { exact: true }).waitFor();
    assert.match(await one.innerText(), /1 message waits/);
    assert.equal(await send(), 400);
    await one.getByRole('heading').getByRole('link').click();
    await page.waitForURL(`**/numbers/${numberId}`);
    await page.getByText('New sends are refused').waitFor();
    await assertSound(page, 'dashboard-number-paused');
    await pausing.click();
    await page.getByText('Online', { exact: true }).waitFor();
    assert.equal(await send(), 202);

    await page.getByLabel('Label').fill('Front desk');
    await page.getByRole('button', { name: 'Save label' }).click();
    await page.getByRole('heading', { name: 'Front desk', level: 1 }).waitFor();
    await page.getByLabel('Send it once more').check();
    await page.getByText('The rule is saved').first().waitFor();
    const { json } = await owner.get(owner.in(`/numbers/${numberId}`));
    assert.deepEqual([json.label, json.status, json.on_unconfirmed], ['Front desk', 'active', 'retry_once']);
  });

  it('pacing can be changed, a number can have a limit of its own, and exceeded limits are shown', async () => {
    const { team, owner } = await newSetting();
    const { phoneNumber, numberId, wire } = await connectNumber(service, team);
    const path = `/numbers/${numberId}`;
    const pacing = async () => (await owner.get(owner.in(path))).json.pacing as Record<string, unknown>;
    const page = await open(owner, path);
    await page.getByText('2 to 5 s').waitFor();
    await page.getByRole('button', { name: 'Change pacing' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change pacing' });
    await dialog.getByLabel('New contacts an hour').fill('1');
    await dialog.getByLabel('Shortest pause').fill('0');
    await dialog.getByLabel('Longest pause').fill('0');
    await dialog.getByRole('button', { name: 'Save pacing' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('set for this number').first().waitFor();
    const { set_by_number } = await pacing();
    assert.deepEqual((set_by_number as string[]).toSorted(), [
      'gap_max_seconds',
      'gap_min_seconds',
      'new_contacts_per_hour',
    ]);

    for (const contact of [to, '+14155550177']) {
      await team.api.send({ from: phoneNumber, to: contact, content: `Hello ${contact}` });
      const { id } = await wire.poll();
      await wire.poll({ last: String(id) });
    }
    await page.reload();
    await page.getByText('more new contacts in the last hour').waitFor();
    await assertSound(page, 'dashboard-number-warned');
    await page.getByRole('button', { name: 'Change pacing' }).click();
    await dialog.getByLabel('Mode').selectOption('strict');
    await dialog.getByLabel('New contacts an hour').fill('');
    await dialog.getByRole('button', { name: 'Save pacing' }).click();
    await page.getByText('Strict', { exact: true }).waitFor();
    const { mode, new_contacts_per_hour } = await pacing();
    assert.deepEqual([mode, new_contacts_per_hour], ['strict', 15]);
  });

  it('a silent iPhone is offline with its likely cause and checks, and another one can be connected', async () => {
    const { team, owner } = await newSetting();
    const { numberId, wire } = await connectNumber(service, team);
    const page = await open(owner, '/numbers', { look: phone });
    const address = page.url();
    // The page is left first: a request that waits while the clock is moved is refused for having waited too long.
    const passTimeWithoutPage = async (ms: number) => {
      await page.goto('about:blank');
      await passServedTime(service, ms);
      await page.goto(address);
    };
    await wire.poll();
    await passTimeWithoutPage(6 * 60_000);
    await page.getByText('no power or no network').waitFor();
    await passTimeWithoutPage(60 * 60_000);
    await page.getByText('no automation has started Ownline Outbox again').waitFor();
    await card(page, 'Test iPhone').getByRole('link', { name: 'Check the iPhone' }).click();
    await page.getByText('Check these on the iPhone').waitFor();
    await page.getByText('with iOS 27, tap its three dots, and each is on').waitFor();
    for (const check of [
      /Low Power Mode is off/,
      /Allow Running When Locked/,
      /Run Immediately/,
      /iMessage is on/,
    ])
      await page.locator('#checks').getByText(check).waitFor();
    await assertSound(page, 'dashboard-number-offline');

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Connect another iPhone' }).click();
    await dialog.getByText('goes on working until the other one').waitFor();
    await dialog.getByRole('button', { name: 'Create setup link' }).click();
    const setupUrl = await scan(page);
    await wire.poll();
    const next = await claim(team.api, setupUrl);
    await dialog.getByText('It has opened the link.').waitFor();
    assert.equal(await dialog.getByText('is connected').count(), 0, 'the old iPhone polled, not the new one');
    await next.poll({ device_name: 'New iPhone' });
    await dialog.getByText('New iPhone is connected').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Online', { exact: true }).waitFor();
    assert.equal((await owner.get(owner.in(`/numbers/${numberId}`))).json.device_name, 'New iPhone');
  });

  it('an iPhone that reports another device name causes a warning', async () => {
    const { team, owner } = await newSetting();
    const { numberId, wire } = await connectNumber(service, team);
    const takeover = async (device_name: string, os: string) => {
      service.clock.advance(10 * 60_000);
      wire.session = 'new';
      await wire.poll({ device_name, os });
    };
    await takeover('Anna’s iPhone', '18.1');
    await takeover('Anna’s iPhone', '18.2');
    const page = await open(owner, `/numbers/${numberId}`);
    await page.getByText('iOS was probably updated').waitFor();
    await takeover('Ben’s iPhone', '17.4');
    await page.reload();
    await page.getByText('Another iPhone may send for this number').waitFor();
    await page.getByText('calls itself “Ben’s iPhone” now, with iOS 17.4 instead of 18.2').waitFor();
    await assertSound(page, 'dashboard-number-device-change');
    const watched = await open(await newMember(service, team, 'viewer'), `/numbers/${numberId}`);
    await watched.getByText('to look into it').waitFor();
  });

  it('deleting a number asks for confirmation, says that waiting messages fail, and then fails them', async () => {
    const { team, owner } = await newSetting();
    const { phoneNumber, numberId } = await connectNumber(service, team);
    const id = await team.api.send({ from: phoneNumber, to, content: 'Too late' });
    // After the deletion, a notified change may make the page read the number once more, which is a 404.
    const page = await open(owner, `/numbers/${numberId}`, { look: phone, provokes: /404/ });
    const dialog = page.getByRole('dialog');
    const deleting = page.getByRole('button', { name: 'Delete number' });
    await deleting.click();
    assert.match(await dialog.innerText(), /1 message waits for its iPhone and will fail/);
    await assertSound(page, 'dashboard-number-delete');
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await owner.get(owner.in(`/numbers/${numberId}`))).status, 200);
    await deleting.click();
    await dialog.getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('heading', { name: 'No iPhone is connected yet' }).waitFor();
    const { json } = await team.api.get(`/v1/messages/${id}`);
    assert.deepEqual([json.status, json.error_code], ['failed', 'number_removed']);
  });

  it('a team without an iPhone can add a simulated one, which is marked, and delete it', async () => {
    const { owner } = await newSetting();
    const page = await open(owner, '/numbers');
    await page.getByRole('button', { name: 'Try a simulated iPhone' }).click();
    await page.waitForURL('**/numbers/num_*');
    await page.getByText('Simulated', { exact: true }).first().waitFor();
    await page.getByText('Nothing reaches a person').waitFor();
    for (const name of ['Connect another iPhone', 'Set up again'])
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    await page.getByText('Online', { exact: true }).waitFor();
    await assertSound(page, 'dashboard-number-simulated');
    await page.getByRole('link', { name: 'All numbers' }).click();
    await card(page, 'Trial number').waitFor();
    assert.equal(await page.getByText('Simulated', { exact: true }).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Try with' }).count(), 0, 'one at a time');
    await card(page, 'Trial number').getByRole('heading').getByRole('link').click();
    await page.getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete number' }).click();
    await page.getByRole('button', { name: 'Try a simulated iPhone' }).waitFor();
  });
});
