import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildWorkflow, shortcuts } from '#shortcut/shortcuts.ts';
import { assertSoundPage } from '#test/support/browser/assert-page.ts';
import { looks, newPage } from '#test/support/browser/browser.ts';
import { type BrowserTeam, startBrowserTeam } from '#test/support/browser/browser-team.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { readPageList } from '#test/support/setup/read-page-list.ts';
import { comparableActions } from '#test/support/shortcuts/comparable-actions.ts';
import { followBuildList } from '#test/support/shortcuts/follow-build-list.ts';

const replyStops = (count: number) =>
  Array.from({ length: count }, () => [/Message Contains/, 'Copy'] as const).flat();

const forOperator = 'For the person who runs Ownline';

describe('the setup page in a browser (specification section 11.8)', () => {
  let opened: BrowserTeam | undefined;
  let service: TestService;
  let team: TestTeam;
  let browser: Browser;

  before(async () => {
    opened = await startBrowserTeam();
    ({ service, team, browser } = opened);
  });
  after(() => opened?.close());

  for (const [index, look] of looks.entries()) {
    const name = `${look.width}×${look.height}-${look.colorScheme}`;
    describe(name, () => {
      let page: Page;
      let complaints: readonly string[];

      beforeEach(async () => {
        page = await newPage(browser, look);
        complaints = complaintsAbout(page, service.baseUrl);
      });
      afterEach(() => page.close());

      const assertSound = (state: string, texts: readonly RegExp[], stops: readonly (string | RegExp)[]) =>
        assertSoundPage(page, { look, complaints, picture: `setup-${state}-${name}`, texts, stops });

      it('a computer: QR code, marks, and by keyboard the end of the link (§11.8/views)', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555020${index}`);
        await page.goto(setupUrl);
        const texts = [/Connect \+1 415 555 020/, /1 of 6 checks passed/, /iPhone asks for messages/];
        await assertSound('computer', texts, [
          forOperator,
          'Copy',
          'show the steps here',
          'Finish and close the link',
        ]);
        assert.equal(await readQrCode(browser, page.locator('svg.qr')), setupUrl, 'in both themes');
        await page.getByRole('button', { name: 'Finish and close the link' }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('is set up').waitFor();
        await assertSound(
          'done',
          [/The link is closed/, /Checked\s+iPhone asks for messages\s+Not checked/],
          [],
        );
        assert.equal((await page.goto(setupUrl))?.status(), 404);
        await assertSound('over', [/This setup link no longer works/], ['For developers']);
      });

      it('an iPhone: steps, and by keyboard the device token (§11.8/click)', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555030${index}`);
        await page.goto(`${setupUrl}?view=phone`);
        const texts = [/Before you start/, /Let replies come in/, /Message Contains: a single space/];
        const later = [
          'Run Ownline Outbox',
          /Number of the second phone/,
          'Send a test text',
          ...[/^Ownline Outbox/, /^Ownline Inbound/],
          ...replyStops(4),
          /Recommended: also catch QUIT/,
          ...[/Time of Day: 08:00/, /12:00/, /16:00/, /20:00/, /Charger/],
          'I lock it now',
          'Finish and close the link',
        ];
        const lists = [
          /Build both shortcuts by hand/,
          /Build Ownline Outbox by hand/,
          /Build Ownline Inbound by hand/,
        ];
        await assertSound('phone', texts, [forOperator, 'Start', ...lists, ...later]);
        await page.getByRole('button', { name: 'Start', exact: true }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('Device token', { exact: true }).waitFor();
        assert.match(await page.locator(':focus').getAttribute('aria-label').then(String), /^Copy http/);
        await assertSound('token', texts, ['Copy', ...lists, ...later]);
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })');
        await page.evaluate('scrollTo(0, 0)');
        await assertSoundPageOpened(page);
      });
    });
  }

  /** With everything open, where Tab would take long. */
  async function assertSoundPageOpened(page: Page): Promise<void> {
    const { keepPicture } = await import('#test/support/browser/browser.ts');
    const { seriousAxeFindings, sidewaysOverflow } = await import('#test/support/browser/page-checks.ts');
    const { width } = page.viewportSize() ?? { width: 0 };
    await keepPicture(page, `setup-opened-${width}`);
    assert.deepEqual([await sidewaysOverflow(page), await seriousAxeFindings(page)], [[], []]);
  }

  it('by hand: a reader of the page gets the actions of the files (§11.8/by-hand)', async () => {
    const { setupUrl } = await connectNumber(service, team, '+14155550400');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Device token', { exact: true }).waitFor();
    const deviceToken = /dev_[\w-]{43}/.exec(await page.content())?.[0] ?? '';
    for (const shortcut of shortcuts) {
      const built = followBuildList(await readPageList(page, shortcut.name));
      const file = buildWorkflow(shortcut, { server: service.baseUrl, deviceToken });
      assert.deepEqual(comparableActions(built), comparableActions(file.WFWorkflowActions));
    }
    const typed = await page.evaluate<{ words: string; copied: string | undefined; hint: string }[]>(
      `[...document.querySelectorAll('ol[data-shortcut] code')].map((code) => {
        const hint = code.nextElementSibling?.matches('small') ? code.nextElementSibling : undefined;
        const button = (hint ?? code).nextElementSibling;
        return { words: code.textContent, copied: button?.dataset?.copy, hint: hint?.textContent ?? '' };
      })`,
    );
    const chosen = ['GET', 'POST', 'JSON', 'off', 'is', 'is not', 'contains', 'begins with'];
    const details = ['Device Name', 'System Version'];
    const withoutButton = new Set(
      typed.flatMap(({ words, copied }) => (copied === undefined ? [words] : [])),
    );
    assert.deepEqual(
      [...withoutButton].filter(
        (words) => ![...chosen, ...details].includes(words) && !/^\d{1,2}$/.test(words),
      ),
      [],
      'all else is typed, and has a button',
    );
    for (const { words, copied, hint } of typed) {
      if (copied === undefined) continue;
      assert.equal(copied, words);
      assert.equal(hint.trim(), /^[a-z][a-z_-]*$/.test(words) ? 'all lower case' : '', words);
    }
    for (const words of ['new', 'none', 'ses_', 'session', 'x-device-token', 'Server', '{', '5000'])
      assert.ok(
        typed.some(({ copied }) => copied === words),
        words,
      );
    await page.close();
  });

  it('without script the page works by forms and reloads (§11.8/without-script)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team, '+14155550401');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    assert.equal(await page.getByRole('button', { name: /^Copy/ }).count(), 0);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Device token', { exact: true }).waitFor();
    await page.getByLabel('Number of the second phone').fill('+1 415 555 0199');
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    await page.getByText('Device token', { exact: true }).waitFor();
    await wire.poll({ last: (await wire.poll()).id ?? '' });
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('[data-mark=text].is-done').waitFor();
    await page.getByRole('button', { name: 'Finish and close the link' }).click();
    await page.getByText('is set up').waitFor();
    await context.close();
  });

  it('a field that a person types in, and ticks, stay as they are when a mark changes (§11.8/live)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team, '+14155550402');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#made-e').check();
    await page.getByLabel('Number of the second phone').pressSequentially('+1 415');
    await wire.call('inbound', { from: '+14155550199', text: 'Seen' });
    await page.locator('[data-test=e].is-done').waitFor();
    await page.keyboard.type(' 555 0199');
    assert.equal(await page.getByLabel('Number of the second phone').inputValue(), '+1 415 555 0199');
    assert.ok(await page.locator('#made-e').isChecked());
    await page.getByText('Build Ownline Inbound by hand').click();
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    assert.ok(await page.locator('ol[data-shortcut="Ownline Inbound"]').isVisible(), 'its box stays open');
    await page.reload();
    assert.ok(await page.locator('#made-e').isChecked(), 'kept by the browser');
    await page.close();
  });
});
