import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phone } from '#test/support/browser/browser.ts';
import { keyboardStops } from '#test/support/browser/page-checks.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { readQrCode } from '#test/support/browser/read-qr-code.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

describe('the setup page in a browser (specification section 11.8)', () => {
  const { service, team, browser, visit } = givenBrowserTeam();

  const openOnPhone = async () => {
    const number = await connectNumber(service, team);
    // A reload may abort the request that stores a tick.
    const opening = { look: phone, provokes: /\/ticks/ };
    return { ...number, page: await visit(`${number.setupUrl}?view=phone`, opening) };
  };

  it('the setup page of an address that no iPhone can open shows only a message to send to a person (§11.8/address)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await visit(setupUrl);
    await page.getByText('does not work on an iPhone yet').waitFor();
    await assertSound(page, 'setup-unreachable');
    await page.getByText('For developers').click();
    await page.getByRole('link', { name: 'the steps' }).click();
    await page.locator('#step-2[open]').waitFor();
  });

  it('the setup page on a computer shows QR code and marks, and the keyboard can end the link (§11.8/views)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const page = await visit(`${setupUrl}?view=computer`);
    await page.getByText('Next on the iPhone: step 2').waitFor();
    await assertSound(page, 'setup-computer');
    const stops = await keyboardStops(page);
    assert.deepEqual(
      stops.map(({ name }) => name),
      ['Copy this message', 'For developers', 'Copy', 'show the steps here', 'Stop here anyway'],
    );
    assert.ok(stops.every(({ isSeen }) => isSeen));
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.reload();
      assert.equal(await readQrCode(browser, page.locator('svg.qr')), setupUrl, colorScheme);
    }
    await page.getByRole('button', { name: 'Stop here anyway' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Not finished: texts may not go out, replies may not come in').waitFor();
    await assertSound(page, 'setup-stopped');
    assert.equal((await page.goto(setupUrl))?.status(), 404);
    await page.getByText('This setup link no longer works').waitFor();
    await assertSound(page, 'setup-over');
  });

  it('the setup page on an iPhone shows one step after the other, and the keyboard reaches the device token (§11.8/click)', async () => {
    const { page } = await openOnPhone();
    await page.getByText('must be prepared by the operator of this server').waitFor();
    for (const step of [1, 3, 4, 5, 6, 2]) {
      await page.locator(`#step-${step} > summary`).focus();
      if (step !== 2 || (await page.locator('#step-2[open]').count()) === 0)
        await page.keyboard.press('Enter');
      assert.equal(await page.locator('details.step[open]').count(), 1, 'the other step is closed');
      await assertSound(page, `setup-step-${step}`);
    }
    await page.getByText('For a technician').click();
    await page.getByRole('button', { name: 'Start', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Device token: paste it').waitFor();
    await page.evaluate(
      'document.querySelectorAll("#by-hand details").forEach((one) => { one.open = true })',
    );
    await assertSound(page, 'setup-technician');
  });

  it('the setup page works without scripts, by forms and reloads (§11.8/without-script)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${setupUrl}?view=phone`);
    assert.equal(await page.getByRole('button', { name: /^Copy/ }).count(), 0);
    await page.locator('#step-2 > summary').click();
    await page.getByText('For a technician').click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Device token: paste it').waitFor();
    await page.locator('#step-3 > summary').click();
    await page.getByLabel('Number of the second phone').fill('+1 415 555 0199');
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    await wire.poll({ last: (await wire.poll()).id ?? '' });
    await page.goto(`${setupUrl}?view=phone`);
    await page.locator('#step-2[open]').waitFor();
    for (const name of ['Outbox', 'Inbound']) await page.locator(`#made-privacy-Ownline-${name}`).check();
    await page.locator('#step-2').getByRole('button', { name: 'Keep my ticks' }).click();
    await page.locator('#step-3[open]').waitFor();
    await page.locator('[data-mark=text].is-done').waitFor();
    await page.getByRole('button', { name: 'Stop here anyway' }).click();
    await page.getByText('Not finished: replies may not come in').waitFor();
    assert.doesNotMatch(
      await page.innerText('main'),
      /may run while locked/,
      'the ticked lines are not listed',
    );
    await context.close();
  });

  it('an update of the page’s marks keeps the texts of fields and the ticks (§11.8/live)', async () => {
    const { page, wire } = await openOnPhone();
    await page.locator('#made-privacy-Ownline-Outbox').check();
    await page.locator('#step-3 > summary').click();
    const field = page.getByLabel('Number of the second phone');
    await field.pressSequentially('+1 415');
    await wire.call('inbound', { from: '+14155550199', text: 'Seen' });
    await page.locator('#test-sign-e').getByText('Done').waitFor({ state: 'attached' });
    await page.keyboard.type(' 555 0199');
    assert.equal(await field.inputValue(), '+1 415 555 0199');
    await page.getByRole('button', { name: 'Send a test text' }).click();
    await page.locator('[data-mark=text].is-busy').waitFor();
    assert.ok((await page.locator('#step-3').getAttribute('open')) !== null, 'its step stays open');
    await page.reload();
    assert.ok(await page.locator('#made-privacy-Ownline-Outbox').isChecked(), 'kept by the server');
  });

  it('quick ticks are all stored, other pages follow, and a tick that could not be stored is undone (§11.8/ticks)', async () => {
    const number = await connectNumber(service, team);
    const [page, other] = [
      await visit(`${number.setupUrl}?view=phone`, { provokes: /\/ticks|Failed to load/ }),
      await visit(`${number.setupUrl}?view=phone`),
    ];
    for (const one of [page, other]) await one.locator('#step-5 > summary').click();
    for (const box of await page.locator('#step-5 input').all()) await box.check();
    await other.locator('#sign-5.is-done').waitFor();
    await page.route('**/ticks', (call) => call.abort());
    // The test uses click(), because uncheck() fails if the page has restored the tick already.
    await page.locator('#made-charger').click();
    await page.locator('#made-charger:checked').waitFor();
    await page.unroute('**/ticks');
    await other.locator('#made-time-8').uncheck();
    await page.locator('#made-time-8:not(:checked)').waitFor();
    await page.locator('#made-charger').uncheck();
    await other.locator('#made-charger:not(:checked)').waitFor();
    assert.ok(!(await other.locator('#made-time-8').isChecked()), 'the other page changes one square');
  });
});
