import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import jsqr from 'jsqr';
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

      it('shoots', async () => {
        const { setupUrl } = await connectNumber(service, team, `+1415555020${index}`);
        const { keepPicture } = await import('#test/support/browser/browser.ts');
        await page.goto(setupUrl);
        await page.waitForTimeout(300);
        await keepPicture(page, `setup-computer-${name}`);
        await page.goto(`${setupUrl}?view=phone`);
        await keepPicture(page, `setup-phone-${name}`);
        await page.locator('#show-token').click();
        await page.waitForTimeout(700);
        await keepPicture(page, `setup-token-${name}`);
      });
    });
  }
});
void assert;
void jsqr;
