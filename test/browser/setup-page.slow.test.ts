import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { newPage, phone } from '#test/support/browser/browser.ts';
import { measureFirstLoad } from '#test/support/browser/first-load.ts';
import { keyboardStops } from '#test/support/browser/page-checks.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { act } from '#test/support/setup/setup-page.ts';

/** A catalogue of the page, as a tree of texts. */
type Texts = { readonly [key: string]: string | Texts };

const readTexts = async (language: string): Promise<Texts> => {
  const file = language === 'en' ? 'texts.json' : `texts.${language}.json`;
  return JSON.parse(await readFile(new URL(`../../web/setup/${file}`, import.meta.url), 'utf8'));
};

const textsOf = (texts: Texts): string[] =>
  Object.values(texts).flatMap((text) => (typeof text === 'string' ? [text] : textsOf(text)));

const shortcutLinks = Object.fromEntries(
  ['OUTBOX', 'INBOUND', 'OUTBOX_27', 'INBOUND_27'].map((name) => [
    `SHORTCUT_${name}_URL`,
    `https://www.icloud.com/shortcuts/${name.toLowerCase()}`,
  ]),
);

describe('the setup page in a browser', () => {
  const { service, team, browser, visit } = givenBrowserTeam(shortcutLinks);

  /** Opens the steps of a number whose phone has polled. @param form the iOS range that the person has chosen */
  const openSteps = async (form: 26 | 27 = 27, provokes = /^$/) => {
    const number = await connectNumber(service, team);
    const page = await visit(`${number.setupUrl}?view=phone`, { look: phone, provokes });
    if (form === 26) await act(number.setupUrl, 'form', { form });
    return { ...number, page };
  };
  const stepOf = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(name) });
  const openStep = async (page: Page, name: string) => {
    await page.getByRole('button', { name: new RegExp(name), expanded: true }).waitFor();
    assert.equal(await page.locator('h2 > [aria-expanded=true]').count(), 1, 'the others are closed');
  };

  it('the setup page at an address that no iPhone can open shows a message to forward to the operator instead of the steps', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await visit(setupUrl);
    await page.getByText('does not work on an iPhone yet').waitFor();
    assert.equal(await page.getByText('Before you start').count(), 0);
    await page.getByText('For developers').click();
    await assertSound(page, 'setup-unreachable');
    await page.getByRole('link', { name: 'Show the steps' }).click();
    await openStep(page, 'Add two shortcuts');
  });

  it('the setup page on a computer has the QR code and the progress, and the keyboard can close the link (§11.8/closed)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await visit(`${setupUrl}?view=computer`, { provokes: /404/ });
    await page.getByText('of 5 steps done').waitFor();
    await assertSound(page, 'setup-computer');
    const stops = await keyboardStops(page);
    assert.deepEqual(
      stops.map(({ name }) => name.split('\n')[0]),
      [
        'English',
        'Copy this message',
        'For developers',
        setupUrl,
        'Copy',
        'This is the iPhone',
        'End this link early',
      ],
    );
    assert.deepEqual(
      stops.filter(({ isSeen }) => !isSeen),
      [],
    );
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.equal(await readQrCode(browser, page.getByRole('img', { name: 'QR code' })), setupUrl);
    }
    await page.getByText('End this link early').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'End this link' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Not all steps are done' }).waitFor();
    await page.getByText('Have a message sent to your second phone').waitFor();
    await assertSound(page, 'setup-ended');
    assert.equal((await page.goto(setupUrl))?.status(), 404);
    await page.getByText('This setup link no longer works').waitFor();
    await assertSound(page, 'setup-over');
  });

  it('a person chooses the iPhone’s iOS, and opening the heading of a step closes the other steps', async () => {
    const { json } = await team.api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    const page = await visit(`${json.setup_url}?view=phone`, { look: phone });
    assert.ok(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled());
    await page.getByRole('button', { name: 'iOS 17 to 26' }).click();
    await page.getByText('of 6 steps done').waitFor();
    for (const name of [
      'Keep it running',
      'Before you start',
      'Add two',
      'Let it send',
      'replies',
      'locked',
    ]) {
      await stepOf(page, name).focus();
      await page.keyboard.press('Enter');
      await openStep(page, name);
      await assertSound(page, `setup-26-${name.replaceAll(' ', '-')}`);
    }
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('h2 > [aria-expanded=true]').count(), 0, 'the heading closes it again');
  });

  it('the setup page changes its language even if the browser blocks its storage', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await newPage(browser, phone);
    await page.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } })",
    );
    await page.goto(`${setupUrl}?view=phone`);
    await page.getByRole('combobox').selectOption('de');
    await page.getByText('Zwei Kurzbefehle hinzufügen').waitFor();
    await page.context().close();
  });

  it('the views for computer and iPhone list the checks that are left', async () => {
    const { setupUrl, page } = await openSteps();
    const computer = await visit(`${setupUrl}?view=computer`);
    for (const view of [page, computer]) {
      await view.getByText('1 of 5 steps done').waitFor();
      await view.getByText('End this link early').click();
      const left = await view.locator('details').last().getByRole('listitem').allInnerTexts();
      assert.equal(left.length, 11);
      assert.ok(left.includes('The reply Thanks comes in'));
      assert.ok(!left.includes('The iPhone is connected'));
    }
  });

  it('without JavaScript the setup page links to the list for building the shortcuts by hand', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(setupUrl);
    await page.getByRole('button', { name: 'Show the list' }).click();
    await page.getByText('Device token:').waitFor();
    await context.close();
  });

  it('a step closes by itself once it is done, but not while the person types', async () => {
    const { page, wire, setupUrl } = await openSteps();
    await openStep(page, 'Add two shortcuts');
    await page.getByRole('checkbox').click();
    await openStep(page, 'Let it send');
    const field = page.getByLabel('Number of the second phone');
    await field.pressSequentially('+1 415');
    await act(setupUrl, 'test-text', { to: '+1 415 555 0199' });
    await page.getByText('half a minute').waitFor();
    await wire.poll({ last: (await wire.poll()).id ?? '' });
    await page.getByText('Sent to +1 415 555 0199').waitFor();
    await act(setupUrl, 'ticks', { name: 'arrived', made: true });
    await page.keyboard.type(' 555');
    assert.equal(await field.inputValue(), '+1 415 555');
    await openStep(page, 'Let it send');
    await page.keyboard.press('Tab');
    await openStep(page, 'Let replies come in');
    await stepOf(page, 'Test it locked').click();
    await wire.call('inbound', { from: '+14155550199', text: 'Seen' });
    await page.getByText('3 of 5 steps done').waitFor();
    await openStep(page, 'Test it locked');
  });

  it('the setup page says that it lost its connection, and goes on by itself once the server answers', async () => {
    const { page, wire } = await openSteps(27, /Failed to load|ERR_INTERNET|failed: /);
    await openStep(page, 'Add two shortcuts');
    await stepOf(page, 'Let replies come in').click();
    await page.context().setOffline(true);
    await page.getByText('No connection to Ownline').waitFor();
    await wire.call('inbound', { from: '+14155550199', text: 'No' });
    await page.context().setOffline(false);
    await page.getByText('No came in').waitFor();
    await page.getByText('No connection to Ownline').waitFor({ state: 'detached' });
  });

  it('quick ticks are all stored, other open pages show them, and a tick that could not be stored is undone', async () => {
    const { page, setupUrl } = await openSteps(26, /\/ticks|Failed to load/);
    const other = await visit(`${setupUrl}?view=phone`);
    for (const one of [page, other]) await stepOf(one, 'Keep it running').click();
    const wifi = page.getByRole('checkbox', { name: 'Wi-Fi' });
    await page.route('**/ticks', (call) => call.abort());
    await wifi.click();
    await page.getByText('No connection. Nothing was lost').waitFor();
    assert.equal(await wifi.isChecked(), false);
    await page.unroute('**/ticks');
    await wifi.click();
    await page.getByRole('checkbox', { name: 'Charger' }).click();
    await other.getByRole('checkbox', { name: 'Charger', checked: true }).waitFor();
    await other.getByRole('checkbox', { name: 'Wi-Fi' }).click();
    await page.getByRole('checkbox', { name: 'Wi-Fi', checked: false }).waitFor();
    await page.getByRole('checkbox', { name: 'Charger', checked: true }).waitFor();
  });

  it('a refused test text shows the reason in words of the page (§11.8/test-text)', async () => {
    const { page } = await openSteps(27, /400/);
    await stepOf(page, 'Let it send').click();
    await page.getByLabel('Number of the second phone').fill('12');
    await page.getByRole('button', { name: 'Send the test' }).click();
    await page.getByRole('alert').getByText('This is not a phone number').waitFor();
    await assertSound(page, 'setup-refused');
  });

  for (const language of ['de', 'es']) {
    it(`the setup page in the language ${language} has no English sentence, and formats numbers and times for the language`, async () => {
      const [english, own] = [await readTexts('en'), await readTexts(language)];
      const ownTexts = new Set(textsOf(own));
      // If both languages share a sentence of several words, its translation was forgotten.
      const shared = textsOf(english).filter((text) => text.includes(' ') && ownTexts.has(text));
      assert.deepEqual(shared, ['Set up again', 'Show a setup link'], 'buttons of the dashboard');
      const sentences = textsOf(english)
        .filter((text) => text.includes(' ') && !ownTexts.has(text))
        .map(
          (text) =>
            text
              .replaceAll('**', '')
              .split(/\{\w+\}/)[0]
              ?.trim() ?? '',
        )
        .filter((text) => text.split(' ').length > 2);
      const { page, setupUrl } = await openSteps(26);
      const look = async (shown: Page) => {
        const text = await shown.innerText('body');
        assert.deepEqual(
          sentences.filter((sentence) => text.includes(sentence)),
          [],
        );
      };
      await page.getByRole('combobox').selectOption(language);
      await page.locator(`html[lang=${language}]`).waitFor();
      for (const heading of await page.locator('h2 > button').all()) {
        if ((await heading.getAttribute('aria-expanded')) === 'false') await heading.click();
        await look(page);
        await assertSound(page, `setup-${language}-${await heading.getAttribute('id')}`);
      }
      await page.goto(`${setupUrl}?view=computer`);
      await page.locator(`html[lang=${language}]`).waitFor();
      await page.getByRole('img').waitFor();
      await look(page);
    });
  }

  it('the first load of the page takes at most 120 KB, all from this server', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await newPage(browser, phone);
    const load = await measureFirstLoad(page, `${setupUrl}?view=phone`, 'Before you start');

    assert.ok(load.bytes > 50_000 && load.bytes <= 120 * 1_024, `${load.bytes} bytes`);
    assert.deepEqual(load.hosts, [new URL(service.baseUrl).host]);
    await page.context().close();
  });
});
