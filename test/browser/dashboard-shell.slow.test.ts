import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepPicture, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { isDark, seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';

describe('the frame of the dashboard in a browser (specification section 12.3)', () => {
  const { service, browser } = givenBrowserTeam();
  const owner = given(async () => newMember(service, await service.newTeam(), 'owner'));

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

  it('the menu More of a phone keeps a distance from the edges of the window (§12.12/page-sound)', async () => {
    const look = { width: 390, height: 844, colorScheme: 'light' } as const;
    const { page } = await openWatchedDashboard(browser, owner, '', look);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const box = await page.getByRole('menu').boundingBox();
    await keepPicture(page, `dashboard-menu-${nameOfLook(look)}`);
    assert.ok(box && box.x >= 8 && box.x + box.width <= look.width - 8, JSON.stringify(box));
    await page.context().close();
  });
});
