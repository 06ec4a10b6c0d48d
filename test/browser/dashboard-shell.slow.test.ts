import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { keepPicture, looks } from '#test/support/browser/browser.ts';
import { type BrowserTeam, startBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { isDark, seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import type { TestService } from '#test/support/service/test-service.ts';

describe('the frame of the dashboard in a browser (specification section 12.3)', () => {
  let opened: BrowserTeam;
  let service: TestService;
  let owner: TeamMember;
  let browser: Browser;

  before(async () => {
    opened = await startBrowserTeam();
    ({ service, browser } = opened);
    owner = await newMember(service, await service.newTeam(), 'owner');
  });
  after(() => opened?.close());

  for (const look of looks) {
    const name = nameOfLook(look);
    it(`${name}: pages open by links and by addresses, and are sound in the theme of the system`, async () => {
      const { page, complaints } = await openWatchedDashboard(browser, owner, '', look);
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Numbers' }).filter({ visible: true }).click();
      await page.getByRole('heading', { name: 'No iPhone is connected yet' }).waitFor();
      await keepPicture(page, `dashboard-numbers-empty-${name}`);
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      assert.equal(await isDark(page), look.colorScheme === 'dark');
      await page.reload();
      await page.getByRole('heading', { name: 'No iPhone is connected yet' }).waitFor();
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }
});
