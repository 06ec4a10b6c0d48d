import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { TeamMember } from '#test/support/people/people.ts';
import { keepPicture, type Look, newPage } from './browser.ts';
import { seriousAxeFindings, sidewaysOverflow } from './page-checks.ts';

/**
 * A page of the dashboard, opened by a signed-in member.
 * @param path below the team's address: `/numbers`
 * @param origin another address of the service, such as one with a name
 */
export async function openDashboard(
  browser: Browser,
  member: TeamMember,
  path: string,
  look: Look,
  origin = member.baseUrl,
): Promise<Page> {
  const page = await newPage(browser, look);
  const [name = '', value = ''] = member.cookie.split('=');
  await page.context().addCookies([{ name, value, url: origin }]);
  await page.goto(`${origin}/teams/${member.team.publicId}${path}`);
  return page;
}

/** Keeps a picture of the page, and checks that nothing serious is wrong with it. */
export async function assertSoundDashboard(page: Page, picture: string): Promise<void> {
  await keepPicture(page, `dashboard-${picture}`);
  assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], picture);
}

export const nameOfLook = ({ width, height, colorScheme }: Look) => `${width}×${height}-${colorScheme}`;
