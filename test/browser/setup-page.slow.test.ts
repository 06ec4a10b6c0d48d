import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { buildWorkflow, shortcuts } from '#shortcut/shortcuts.ts';
import { assertSoundPage } from '#test/support/browser/assert-page.ts';
import { looks, newPage } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenEach } from '#test/support/service/given.ts';
import { readPageList } from '#test/support/setup/read-page-list.ts';
import { comparableActions } from '#test/support/shortcuts/comparable-actions.ts';
import { followBuildList } from '#test/support/shortcuts/follow-build-list.ts';

const forDevelopers = 'For developers';
const steps = [
  /Before you start/,
  /Install two shortcuts/,
  /Let it send/,
  /Let replies come in/,
  /Keep it running/,
  /Test it locked/,
];

/** A script that runs in the page. It finds words in drawings that a tap marker covers. */
const coveredWords = `[...document.querySelectorAll('svg.screen')].flatMap((drawing) => {
  const badges = [...drawing.querySelectorAll('circle.tap')].map((badge) => badge.getBoundingClientRect());
  const words = [...drawing.querySelectorAll('text:not(.tap-number)')];
  return words.filter((word) => {
    const box = word.getBoundingClientRect();
    return box.width > 0 && badges.some(({ left, right, top, bottom }) =>
      left < box.right && right > box.left && top < box.bottom && bottom > box.top);
  }).map((word) => word.textContent);
})`;

describe('the setup page in a browser (specification section 11.8)', () => {
  const { service, team, browser } = givenBrowserTeam();

  for (const [index, look] of looks.entries()) {
    const name = `${look.width}×${look.height}-${look.colorScheme}`;
    describe(name, () => {
      let complaints: readonly string[];
      const page = givenEach(() => newPage(browser, look));

      beforeEach(async () => {
        complaints = complaintsAbout(page, service.baseUrl);
      });

      const assertSound = (state: string, texts: readonly RegExp[], stops: readonly (string | RegExp)[]) =>
        assertSoundPage(page, { look, complaints, picture: `setup-${state}-${name}`, texts, stops });

      it('the setup page of an address that no iPhone can open shows only a message to send to a person (§11.8/address)', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555010${index}`);
        await page.goto(setupUrl);
        await assertSound(
          'unreachable',
          [/does not work on an iPhone yet/, /Please set BASE_URL/],
          ['Copy this message', forDevelopers],
        );
        await page.getByText(forDevelopers).click();
        await page.getByRole('link', { name: 'the steps' }).click();
        await page.locator('#step-2[open]').waitFor();
      });

      it('the setup page on a computer shows QR code and marks, and the keyboard can end the link (§11.8/views)', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555020${index}`);
        await page.goto(`${setupUrl}?view=computer`);
        const texts = [
          /Connect \+1 415 555 020/,
          /Next on the iPhone: step 2/,
          /iPhone is connected/,
          /16 left/,
        ];
        await assertSound('computer', texts, [
          'Copy this message',
          forDevelopers,
          'Copy',
          'show the steps here',
          'Stop here anyway',
        ]);
        assert.equal(await readQrCode(browser, page.locator('svg.qr')), setupUrl, 'in both themes');
        await page.getByRole('button', { name: 'Stop here anyway' }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('is closed').waitFor();
        await assertSound(
          'stopped',
          [
            /Not finished: texts may not go out, replies may not come in/,
            /Still to do on this iPhone/,
            /Set up again/,
            /Checked\s+iPhone is connected/,
          ],
          [],
        );
        assert.equal((await page.goto(setupUrl))?.status(), 404);
        await assertSound('over', [/This setup link no longer works/], [forDevelopers]);
      });

      it('the setup page on an iPhone shows one step after the other, and the keyboard reaches the device token (§11.8/click)', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555030${index}`);
        await page.goto(`${setupUrl}?view=phone`);
        const before = ['Copy this message', forDevelopers];
        const end = ['Go on with step 1', 'Stop here anyway'];
        await assertSound(
          'no-buttons',
          [/must be prepared by the operator of this server/, /This ends the link for good/],
          [
            ...before,
            ...steps.slice(0, 2),
            'Copy this message',
            ...[/Made: Ownline Outbox/, 'Ownline Outbox', 'Next: Ownline Inbound'],
            ...[/Made: Ownline Inbound/, 'Ownline Inbound'],
            ...steps.slice(2),
            ...end,
            /For a technician/,
          ],
        );
        await page.locator('#step-3 > summary').focus();
        await page.keyboard.press('Enter');
        assert.equal(await page.locator('details.step[open]').count(), 1, 'the other step is closed');
        await assertSound(
          'step-3',
          [/Send a test text/],
          [
            'Run Ownline Outbox',
            /Number of the second phone/,
            'Send a test text',
            'The second phone got the test text',
            'Next: Let replies come in',
            ...steps.slice(3),
            ...end,
            /For a technician/,
          ],
        );
        await page.getByText('For a technician').click();
        await page.getByRole('button', { name: 'Start', exact: true }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('Device token: paste it').waitFor();
        await page.evaluate(
          'document.querySelectorAll("#by-hand details").forEach((one) => { one.open = true })',
        );
        await page.evaluate('scrollTo(0, 0)');
        await assertSoundPageOpened(page, 'setup-technician');
        for (const [step, name] of [
          [1, 'step-1'],
          [2, 'step-2'],
          [4, 'step-4'],
          [5, 'step-5'],
          [6, 'step-6'],
        ] as const) {
          await page.locator(`#step-${step} > summary`).click();
          await assertSoundPageOpened(page, `setup-${name}`);
          assert.deepEqual(await page.evaluate(coveredWords), [], 'badges of drawings');
        }
      });
    });
  }

  /** Checks a page with all steps open, without the Tab key, which would take long. */
  async function assertSoundPageOpened(page: Page, state: string): Promise<void> {
    const { keepPicture } = await import('#test/support/browser/browser.ts');
    const { isDark, seriousAxeFindings, sidewaysOverflow } = await import(
      '#test/support/browser/page-checks.ts'
    );
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
    await keepPicture(page, `${state}-${width}×${height}-${(await isDark(page)) ? 'dark' : 'light'}`);
    assert.deepEqual([await sidewaysOverflow(page), await seriousAxeFindings(page)], [[], []]);
  }

  it('the instructions to build by hand give the same actions as the shortcut files (§11.8/by-hand)', async () => {
    const { setupUrl } = await connectNumber(service, team, '+14155550400');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.getByText('For a technician').click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Device token: paste it').waitFor();
    const deviceToken = /dev_[\w-]{47}/.exec(await page.content())?.[0] ?? '';
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

  it('the setup page works without scripts, by forms and reloads (§11.8/without-script)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team, '+14155550401');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    assert.equal(await page.getByRole('button', { name: /^Copy/ }).count(), 0);
    await page.locator('#step-2 > summary').click();
    await page.getByText('For a technician').click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('#step-3 > summary').click();
    await page.getByLabel('Number of the second phone').fill('+1 415 555 0199');
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    await page.getByText('Device token: paste it').waitFor();
    await wire.poll({ last: (await wire.poll()).id ?? '' });
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#step-2[open]').waitFor();
    for (const name of ['Outbox', 'Inbound']) await page.locator(`#made-privacy-Ownline-${name}`).check();
    await page.locator('#step-2').getByRole('button', { name: 'Keep my ticks' }).click();
    await page.locator('#step-3[open]').waitFor();
    await page.locator('#made-arrived').check();
    await page.locator('#step-3').getByRole('button', { name: 'Keep my ticks' }).click();
    await page.locator('#step-4[open]').waitFor();
    await page.goto(`${setupUrl}?view=phone#line-o`);
    await page.locator('#line-o').waitFor({ state: 'visible' });
    await page.locator('#step-3 > summary').click();
    await page.locator('[data-mark=text].is-done').waitFor();
    await page.locator('#step-5 > summary').click();
    await page.locator('#made-time-8').check();
    await page.getByRole('button', { name: 'Stop here anyway' }).click();
    await page.getByText('Not finished: replies may not come in').waitFor();
    const ended = await page.innerText('main');
    assert.match(ended, /Automation at 12:00 PM starts Ownline Outbox/);
    assert.doesNotMatch(ended, /8:00 AM|may run while locked/, 'the ticked lines are not listed');
    await context.close();
  });

  it('an update of the page’s marks keeps the texts of fields and the ticks (§11.8/live)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team, '+14155550402');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#made-privacy-Ownline-Outbox').check();
    await page.locator('#step-3 > summary').click();
    await page.getByLabel('Number of the second phone').pressSequentially('+1 415');
    await wire.call('inbound', { from: '+14155550199', text: 'Seen' });
    await page.locator('[data-test=e].is-done').waitFor({ state: 'attached' });
    await page.locator('#test-sign-e').getByText('Done').waitFor({ state: 'attached' });
    await page.keyboard.type(' 555 0199');
    assert.equal(await page.getByLabel('Number of the second phone').inputValue(), '+1 415 555 0199');
    assert.ok(await page.locator('#made-privacy-Ownline-Outbox').isChecked());
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    assert.ok((await page.locator('#step-3').getAttribute('open')) !== null, 'its step stays open');
    await page.reload();
    assert.ok(await page.locator('#made-privacy-Ownline-Outbox').isChecked(), 'kept by the server');
    assert.ok(!(await page.locator('#made-privacy-Ownline-Inbound').isChecked()));
    await page.close();
  });

  it('quick ticks are all stored, other pages follow, and a tick that could not be stored is undone (§11.8/ticks)', async () => {
    const { setupUrl } = await connectNumber(service, team, '+14155550404');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#step-5 > summary').click();
    for (const box of await page.locator('#step-5 input').all()) await box.check();
    await page.locator('#sign-5.is-done').waitFor();
    await page.route('**/ticks', (call) => call.abort());
    // The test uses click(), because uncheck() fails if the page has restored the tick already.
    await page.locator('#made-charger').click();
    await page.locator('#made-charger:checked').waitFor();
    await page.unroute('**/ticks');
    await page.locator('#made-charger').uncheck();
    await page.locator('#end').getByText('Automation of the charger').waitFor();
    const other = await browser.newPage();
    await other.goto(`${setupUrl}?view=phone`);
    await other.locator('#step-5 > summary').click();
    await other.locator('#made-time-8').uncheck();
    await page.locator('#made-time-8:not(:checked)').waitFor();
    await page.locator('#made-charger').check();
    await other.locator('#made-charger:checked').waitFor();
    assert.ok(!(await other.locator('#made-time-8').isChecked()), 'the other page changes one square');
    await other.close();
    await page.close();
  });

  it('ticks for “none” and for a letter exclude each other, and a change that could not be stored is undone (§11.8/asked)', async () => {
    const { setupUrl } = await connectNumber(service, team, '+14155550405');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#step-4 > summary').click();
    const none = page.getByLabel('No, none of these');
    const letter = page.getByLabel('Yes, they ask for C');
    await none.check();
    await page.locator('#end').getByText('Answer the question').waitFor({ state: 'detached' });
    await letter.check();
    await page.locator('#end').getByText('The reply C comes in').waitFor();
    assert.ok(!(await none.isChecked()));
    await none.check();
    await page.locator('#end').getByText('The reply C comes in').waitFor({ state: 'detached' });
    assert.ok(!(await letter.isChecked()));
    await page.route('**/ticks', (call) => call.abort());
    // The test uses click(), because check() fails if the page has removed the tick already.
    await letter.click();
    await page.locator('#made-asked-none:checked').waitFor();
    assert.ok(!(await letter.isChecked()));
    await page.close();
  });

  it('a link opens the next line of a step and closes the other lines, and a ticked line no longer counts as left (§11.8/steps)', async () => {
    const { setupUrl } = await connectNumber(service, team, '+14155550403');
    const page = await browser.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    const left = page.locator('.left').getByText('Automation at 8:00 AM starts Ownline Outbox');
    await left.waitFor();
    await page.locator('#step-5 > summary').click();
    await page.locator('#made-time-8').check();
    await left.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Next: every day at 12:00 PM' }).click();
    await page.locator('#line-time-12').waitFor({ state: 'visible' });
    assert.ok(await page.locator('#line-time-8').isHidden());
    for (const title of [
      'every day at 4:00 PM',
      'every day at 8:00 PM',
      'when the charger',
      'Test it locked',
    ])
      await page.getByRole('link', { name: `Next: ${title}` }).click();
    await page.getByRole('button', { name: 'I lock it now' }).waitFor({ state: 'visible' });
    assert.ok((await page.locator('#step-5').getAttribute('open')) === null);
    await page.close();
  });
});
