import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, shortcuts } from '#shortcut/shortcuts.ts';
import { keepPicture, startBrowser } from '#test/support/browser/browser.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { startHttpsFront } from '#test/support/proxies/https-front.ts';
import { given } from '#test/support/service/given.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { iphoneAgent } from '#test/support/setup/setup-page.ts';
import { ShortcutPhone } from '#test/support/shortcuts/shortcut-phone.ts';

const phoneNumber = '+14155550180';
const friend = '+14155550199';

/** Waits, without a reload, until the setup page shows the mark with this name in this state. */
async function waitForMark(page: Page, name: string, state: string): Promise<void> {
  await page.locator(`[data-mark=${name}].is-${state}`).waitFor({ state: 'attached' });
}

/** Clicks a copy button. @returns the clipboard */
async function copyFrom(page: Page, label: string | RegExp): Promise<string> {
  await page.getByRole('button', { name: label }).first().click();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

describe('an iPhone is connected, from the link to the last mark (specification section 11.8)', () => {
  const front = given(startHttpsFront);
  const service = given(async () => {
    const started = await startTestService({ BASE_URL: front.url });
    front.setTarget(started.baseUrl);
    return started;
  });
  const team = given(() => service.newTeam());
  const browser = given(() =>
    startBrowser([
      `--host-resolver-rules=MAP ${front.host} 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${front.publicKeyHash}`,
    ]),
  );

  it('a person connects an iPhone from the QR code to the lock test, and can pause, resume and delete it (§11.8/connect)', async (context) => {
    // Stand-ins for files that the operator signed: the server recognizes a signed file by its first four bytes.
    await mkdir(join(service.dataDir, 'shortcuts'));
    for (const shortcut of shortcuts) {
      const file = Buffer.concat([Buffer.from('AEA1'), writeBinaryPropertyList(buildWorkflow(shortcut))]);
      await writeFile(join(service.dataDir, 'shortcuts', `${shortcut.name}.shortcut`), file);
    }
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const computer = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const onComputer = complaintsAbout(computer, front.url);
    await computer.goto(String(verify.json.setup_url));
    await waitForMark(computer, 'poll', 'open');

    const scanned = await readQrCode(browser, computer.locator('svg.qr'));
    assert.equal(scanned, verify.json.setup_url);
    const page = await browser.newPage({
      viewport: { width: 390, height: 844 },
      userAgent: iphoneAgent,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const onPhone = complaintsAbout(page, front.url);
    await page.goto(scanned ?? '');

    // The install step: a copy button gives the setup code, and links of the page give the shortcut files.
    await page.getByRole('link', { name: 'Next: Install two shortcuts' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const setupCode = await copyFrom(page, 'Copy setup code');
    assert.equal(JSON.parse(setupCode).server, front.url);
    const files = new Map<string, Buffer>();
    for (const { name } of shortcuts) {
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: `Get ${name}` }).click();
      const download = await downloading;
      assert.equal(download.suggestedFilename(), `${name}.shortcut`);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk);
      files.set(name, Buffer.concat(chunks).subarray(4));
    }
    const phone = new ShortcutPhone({ setupCode, files, deviceName: 'Front desk', fetch: front.fetch });
    context.after(() => phone.switchOff());

    const run = phone.startOutbox();
    for (const view of [page, computer]) await waitForMark(view, 'poll', 'done');
    for (const view of [page, computer]) await waitForMark(view, 'address', 'done');
    assert.match(await computer.innerText('[data-mark=poll]'), /Front desk.*, iOS 26\.1/);

    await page.locator('#step-3 > summary').click();
    await page.getByLabel('Number of the second phone').fill('415 555 0199');
    await page.getByRole('button', { name: 'Send a test text' }).click();
    for (const view of [page, computer]) await waitForMark(view, 'text', 'done');
    assert.equal(phone.sent.at(-1)?.to, friend);

    const receive = (text: string) =>
      phone.receive({ sender: friend, content: text, recipients: [phoneNumber] });
    await page.locator('#step-4 > summary').click();
    await receive('7 pm');
    await page.locator('[data-test=space].is-done').waitFor({ state: 'attached' });
    for (const view of [page, computer]) await waitForMark(view, 'inbound', 'done');
    for (const [word, test] of [
      ['Seen', 'e'],
      ['No', 'o'],
      ['Thanks', 'a'],
      ['Hi', 'i'],
    ] as const) {
      await receive(word);
      await page.locator(`[data-test=${test}].is-done`).waitFor({ state: 'attached' });
      await page.locator(`#test-sign-${test}`).getByText('Done').waitFor({ state: 'attached' });
    }
    for (const view of [page, computer]) await waitForMark(view, 'one_word', 'done');

    await page.locator('#step-6 > summary').click();
    await page.getByRole('button', { name: 'I lock it now' }).click();
    await waitForMark(page, 'locked', 'busy');
    const polls = async () => (await findNumber(team.api, phoneNumber))?.last_seen_at;
    for (let passed = 0; passed < 130; passed += 10) {
      const seen = await polls();
      service.clock.advance(10_000);
      await until('a poll', async () => (await polls()) !== seen);
    }
    await until('the text of the lock test', () => phone.texts.length === 2);
    // The page reads the state of a running lock test every 5 s.
    await until('the text is reported', async () => {
      const { json } = await team.api.get(`/v1/messages?from=${encodeURIComponent(phoneNumber)}&status=sent`);
      return (json.messages as unknown[]).length === 2;
    });
    service.clock.advance(5_000);
    for (const view of [page, computer]) await waitForMark(view, 'locked', 'done');
    assert.match(phone.texts.at(-1) ?? '', /while it is locked/);
    for (const view of [page, computer]) {
      await view.getByText('Almost done: 11 left').first().waitFor();
      assert.equal(await view.getByRole('button', { name: 'Finish' }).count(), 0, 'not before all is done');
      await view.getByRole('button', { name: 'Stop here anyway' }).waitFor();
    }
    await keepPicture(page, 'connect-phone-almost-done');
    // The iPhone's page gets the ticks for steps that the server cannot see, and the computer's page follows.
    for (const step of [1, 2, 3, 5, 6]) {
      await page.locator(`#step-${step} > summary`).click();
      for (const box of await page.locator(`#step-${step} input[type=checkbox]`).all()) await box.check();
    }
    await page.locator('#step-4 > summary').click();
    await page.getByLabel('No, none of these').check();
    for (const view of [page, computer]) await view.locator('#progress').getByText('All done').waitFor();
    await keepPicture(page, 'connect-phone-all-done');
    await keepPicture(computer, 'connect-computer-all-done');
    assert.deepEqual([onPhone, onComputer], [[], []]);

    // The dashboard and the API show the same state as the page.
    const numberId = String((await findNumber(team.api, phoneNumber))?.id);
    assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'words');
    await page.getByRole('button', { name: 'Finish and close the link' }).click();
    await page.getByText('is set up').waitFor();
    await computer.getByText('This setup link no longer works').waitFor();

    const send = async (content: string) => {
      const answer = await team.api.post('/v1/messages/send', { from: phoneNumber, to: friend, content });
      assert.equal(answer.status, 202, answer.text);
    };
    const sent = (content: string) => until(`“${content}” is sent`, () => phone.texts.includes(content));
    await send('Your table is ready');
    await sent('Your table is ready');
    await receive('Coming now');
    await receive('👍');
    const inbox = await team.api.get(`/v1/messages?direction=inbound&to=${encodeURIComponent(phoneNumber)}`);
    const texts = (inbox.json.messages as { content: string }[]).map(({ content }) => content);
    assert.deepEqual(texts, ['👍', 'Coming now', 'Hi', 'Thanks', 'No', 'Seen', '7 pm']);
    await send('Last one before the break');
    await sent('Last one before the break');
    assert.equal((await team.api.put(`/v1/numbers/${numberId}`, { status: 'paused' })).status, 200);
    const refused = await team.api.post('/v1/messages/send', {
      from: phoneNumber,
      to: friend,
      content: 'no',
    });
    assert.equal(refused.status, 400);
    assert.equal((await team.api.put(`/v1/numbers/${numberId}`, { status: 'active' })).status, 200);
    await send('Open again');
    await sent('Open again');
    assert.equal((await team.api.delete(`/v1/numbers/${numberId}`)).status, 200);
    assert.deepEqual(await run, { kind: 'stopped' });
  });
});
