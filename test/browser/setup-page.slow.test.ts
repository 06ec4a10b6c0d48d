import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { assertSoundPage } from '#test/support/browser/assert-page.ts';
import { looks, newPage, startBrowser } from '#test/support/browser/browser.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

describe('the setup page in a browser (specification section 11.8)', () => {
  let service: TestService;
  let team: TestTeam;
  let browser: Browser;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await service.close();
  });

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

      it('shows the steps, and by keyboard the device token', async () => {
        const phoneNumber = `+1415555010${index}`;
        const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
        await page.goto(String(verify.json.setup_url));
        const steps = [/Connect \+14155550/, /Waiting for the first poll/, /Ownline Outbox/];
        await assertSound('open', steps, ['Show the device token', 'Done']);
        await page.reload();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.getByText('Device token', { exact: true }).waitFor();
        await assertSound('token', steps, ['Done']);
      });

      it('says that the phone has polled, and closes the link by keyboard', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555020${index}`);
        await page.goto(setupUrl);
        await assertSound(
          'connected',
          [/✓ The phone that was set up with this link has polled/],
          ['Show the device token', 'Done'],
        );
        await page.reload();
        for (const _ of ['Show the device token', 'Done']) await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.getByText('is set up').waitFor();
        await assertSound('done', [/The link is closed/], []);
        assert.equal((await page.goto(setupUrl))?.status(), 404);
        await assertSound('over', [/This setup link is over/], []);
      });
    });
  }
});
