import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { FileForm } from '#contract/setup.ts';
import { automationSets } from '#shortcut/inbound-coverage/coverage.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { buildWorkflow, shortcuts } from '#shortcut/shortcuts.ts';
import { keepPicture, startBrowser } from '#test/support/browser/browser.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { answerOf, startMediaHost } from '#test/support/media/media-host.ts';
import { png } from '#test/support/media/sample-files.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { startHttpsFront } from '#test/support/proxies/https-front.ts';
import { given } from '#test/support/service/given.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { iphoneAgent } from '#test/support/setup/setup-page.ts';
import { ShortcutPhone } from '#test/support/shortcuts/shortcut-phone.ts';
import { isShown, steps as stepsOf } from '../../web/setup/steps.ts';

const friend = '+14155550199';

/** The setups of a newer and of an older iPhone, each with its steps. */
const setups = [
  {
    form: 27,
    ios: '27.0',
    phoneNumber: '+14155550180',
    steps: ['Add two shortcuts', 'Let it send', 'Let replies come in', 'Test it locked'],
  },
  {
    form: 26,
    ios: '26.1',
    phoneNumber: '+14155550181',
    steps: ['Add two shortcuts', 'Let it send', 'Let replies come in', 'Keep it running', 'Test it locked'],
  },
] as const;

/** Taps of the page's instructions that happen outside of the page: returns to the page, and an answer to Safari. */
const tapsElsewhere: Readonly<Record<string, number>> = {
  start: 1,
  connected: 1,
  made: 1,
  automation: 1,
  starter: 1,
};

/** The number of taps on the page that the instructions of all steps name. */
const tapsOnPage = (form: FileForm) =>
  stepsOf[form]
    .flatMap(({ instructions }) => instructions)
    .filter((one) => one.place === 'page' && one.part && isShown(one, 'files'))
    .reduce((sum, { text, taps }) => sum + taps - (tapsElsewhere[text] ?? 0), 0);

/** How often a step says that the iPhone asks for a permission, which is answered by *Always Allow*. */
const questionsOf: Readonly<Record<string, number>> = {
  'Add two shortcuts': 1,
  'Let it send': 3,
  'Let replies come in': 1,
};

/** The heading of the open step. */
const openStep = (page: Page) => page.getByRole('button', { expanded: true });

describe('an iPhone is connected, from the link to the last check', () => {
  const front = given(startHttpsFront);
  const host = given(startMediaHost);
  const service = given(async () => {
    const started = await startTestService({ BASE_URL: front.url, EGRESS_ALLOW_CIDRS: '127.0.0.1' });
    front.setTarget(started.baseUrl);
    // Stand-ins for files that the operator signed: the server recognizes a signed file by its first four bytes.
    for (const form of [26, 27] as const) {
      const folder = join(started.dataDir, 'shortcuts', form === 27 ? '27' : '');
      await mkdir(folder, { recursive: true });
      for (const shortcut of shortcuts) {
        const workflow = writeBinaryPropertyList(buildWorkflow(shortcut, undefined, form));
        const file = Buffer.concat([Buffer.from('AEA1'), workflow]);
        await writeFile(join(folder, `${shortcut.name}.shortcut`), file);
      }
    }
    return started;
  });
  const team = given(() => service.newTeam());
  const browser = given(() =>
    startBrowser([
      `--host-resolver-rules=MAP ${front.host} 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${front.publicKeyHash}`,
    ]),
  );

  /** Opens the setup page on a computer, and on the iPhone by the QR code. */
  async function openPages(phoneNumber: string, form: FileForm) {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const computer = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const complaints = [complaintsAbout(computer, front.url)];
    await computer.goto(String(verify.json.setup_url));
    await computer.getByText('of 5 steps done').waitFor();
    const scanned = await readQrCode(browser, computer.getByRole('img', { name: 'QR code of this page' }));
    assert.equal(scanned, verify.json.setup_url);
    const page = await browser.newPage({
      viewport: { width: 390, height: 844 },
      userAgent: iphoneAgent.replace('Version/18.1', `Version/${form}.0`),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    complaints.push(complaintsAbout(page, front.url));
    // A computer has no app Shortcuts, so its links open nothing.
    await page.addInitScript(
      "addEventListener('click', (event) => event.target.closest('a[href^=\"shortcuts:\"]') && event.preventDefault())",
    );
    await page.goto(scanned ?? '');
    return { page, computer, complaints };
  }

  /** Taps the button that gets a shortcut. @returns the shortcut's file without the signature, and the setup code */
  async function getShortcut(page: Page, name: string, tap: (button: Locator) => Promise<void>) {
    const downloading = page.waitForEvent('download');
    await tap(page.getByRole('link', { name: `Get ${name}` }));
    const download = await downloading;
    assert.equal(download.suggestedFilename(), `${name}.shortcut`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const setupCode = await page.evaluate<string>('navigator.clipboard.readText()');
    return { file: Buffer.concat(chunks).subarray(4), setupCode };
  }

  for (const { form, ios, phoneNumber, steps } of setups) {
    it(`a person connects an iPhone with iOS ${ios} step by step, and it sends and receives while it is locked`, async (context) => {
      const { page, computer, complaints } = await openPages(phoneNumber, form);
      let [taps, questions] = [0, 0];
      const tap = async (target: Locator) => {
        taps += 1;
        await target.click();
      };
      const isDone = (title: string) =>
        computer.getByText(title).and(computer.locator('.text-good-ink')).first().waitFor();
      const followed: string[] = [];
      const nextStep = async () => {
        const name = steps[followed.length] ?? '';
        await openStep(page).filter({ hasText: name }).waitFor();
        assert.equal(await openStep(page).count(), 1);
        await keepPicture(page, `connect-${form}-${name.replaceAll(' ', '-')}`);
        followed.push(name);
        questions = questionsOf[name] ?? 0;
      };
      await tap(page.getByRole('button', { name: 'Start', exact: true }));
      await nextStep();
      const files = new Map<string, Buffer>();
      let setupCode = '';
      for (const { name } of shortcuts) {
        const got = await getShortcut(page, name, tap);
        files.set(name, got.file);
        setupCode = got.setupCode;
      }
      assert.equal(JSON.parse(setupCode).server, front.url);
      const phone = new ShortcutPhone({
        setupCode,
        files,
        deviceName: 'Front desk',
        systemVersion: ios,
        fetch: front.fetch,
      });
      context.after(() => phone.switchOff());
      phone.onQuestion(() => {
        questions -= 1;
        return questions < 0 ? 'never' : 'always';
      });
      phone.switchOnAutomations();
      const run = phone.startOutbox();
      await isDone('The iPhone is connected');
      if (form === 27) {
        await page.getByText(`Connected: Front desk, iOS ${ios}`).waitFor();
        // The last tick closes its step, so the test uses click(): check() would look at the checkbox afterwards.
        await tap(page.getByRole('checkbox'));
      }

      await nextStep();
      await tap(page.getByLabel('Number of the second phone'));
      await page.keyboard.type('415 555 0199');
      await tap(page.getByRole('button', { name: 'Send the test' }));
      await tap(page.getByRole('checkbox'));
      await nextStep();
      assert.equal(phone.sent.at(-1)?.to, friend);
      await isDone('The test was sent');

      const receive = (content: string) =>
        phone.incoming({ sender: friend, content, recipients: [phoneNumber] });
      const newAutomation = () => tap(page.getByRole('link', { name: 'New automation' }));
      if (form === 26) {
        await newAutomation();
        phone.makeAutomations(automationSets.needed);
      }
      for (const reply of ['7 pm', 'Seen', 'No', 'Thanks', 'Hi']) {
        await page.getByText(`${reply} not here yet`).waitFor();
        await receive(reply);
        await isDone(`The reply ${reply} comes in`);
      }
      if (form === 26) {
        await nextStep();
        await newAutomation();
        for (const box of await page.getByRole('checkbox').all()) await tap(box);
      }

      await nextStep();
      await tap(page.getByRole('button', { name: 'I lock it now' }));
      await page.getByText('Leave it locked until').waitFor();
      phone.lock();
      const polls = async () => (await findNumber(team.api, phoneNumber))?.last_seen_at;
      const before = phone.texts.length;
      for (let passed = 0; passed < 130; passed += 10) {
        const seen = await polls();
        service.clock.advance(10_000);
        await until('a poll', async () => (await polls()) !== seen);
      }
      await until('the text of the lock test', () => phone.texts.length > before);
      assert.match(phone.texts.at(-1) ?? '', /while it is locked/);
      await receive('Hi');
      service.clock.advance(10_000);
      for (const view of [page, computer]) await view.getByText('All done').waitFor();
      for (const title of ['It sends while it is locked', 'A reply comes in while']) await isDone(title);
      await keepPicture(page, `connect-${form}-all-done`);
      await keepPicture(computer, `connect-${form}-computer`);
      assert.deepEqual(followed, steps);
      assert.equal(taps, tapsOnPage(form));
      assert.deepEqual(complaints, [[], []]);

      await page.getByRole('button', { name: 'Finish and close the link' }).click();
      await page.getByText('is set up').waitFor();
      await keepPicture(page, `connect-${form}-closed`);
      await computer.getByText('This setup link no longer works').waitFor();
      const numberId = String((await findNumber(team.api, phoneNumber))?.id);
      assert.equal((await team.api.get(`/v1/numbers/${numberId}`)).json.inbound_coverage, 'words');

      // The test on the page has asked for each permission, so a locked iPhone can send pictures, too.
      const send = (body: object) =>
        team.api.post('/v1/messages/send', { from: phoneNumber, to: friend, ...body });
      host.set('/photo.png', answerOf(200, png, { 'content-type': 'image/png' }));
      assert.equal((await send({ content: 'Look', media_url: host.url('/photo.png') })).status, 202);
      await until('the picture is sent', () => phone.texts.includes('Look'));
      assert.equal(phone.sent.at(-2)?.kind, 'file');
      await receive('Coming now');
      phone.unlock();
      await pauseAndDelete(numberId, send, phone);
      assert.deepEqual(await run, { kind: 'stopped' });
      for (const view of [page, computer]) await view.context().close();
    });
  }

  /** Pauses a number, which sends again once it is resumed, and deletes it, which ends its phone. */
  async function pauseAndDelete(
    id: string,
    send: (body: object) => Promise<{ readonly status: number }>,
    phone: ShortcutPhone,
  ): Promise<void> {
    assert.equal((await team.api.put(`/v1/numbers/${id}`, { status: 'paused' })).status, 200);
    assert.equal((await send({ content: 'no' })).status, 400);
    assert.equal((await team.api.put(`/v1/numbers/${id}`, { status: 'active' })).status, 200);
    assert.equal((await send({ content: 'Open again' })).status, 202);
    await until('the text is sent', () => phone.texts.includes('Open again'));
    assert.equal((await team.api.delete(`/v1/numbers/${id}`)).status, 200);
  }
});
