import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepPicture } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';

describe('the frame of the dashboard in a browser (specification section 12.3)', () => {
  const { service, browser } = givenBrowserTeam();
  const owner = given(async () => newMember(service, await service.newTeam(), 'owner'));

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
