import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { TeamMember } from '#test/support/people/people.ts';
import { keepPicture, type Look, newPage } from './browser.ts';
import { complaintsAbout, seriousAxeFindings, sidewaysOverflow } from './page-checks.ts';

/**
 * Opens a page of the dashboard as a signed-in member.
 * @param path below the team's address: `/numbers`
 * @param origin another origin of the service, such as one with a host name
 */
export async function openDashboard(
  browser: Browser,
  member: TeamMember,
  path: string,
  look: Look,
  origin = member.baseUrl,
): Promise<Page> {
  return (await openWatchedDashboard(browser, member, path, look, origin)).page;
}

/** Opens a page of the dashboard and lists its faults from the first request on (page-checks.ts). */
export async function openWatchedDashboard(
  browser: Browser,
  member: TeamMember,
  path: string,
  look: Look,
  origin = member.baseUrl,
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const page = await newPage(browser, look);
  const [name = '', value = ''] = member.cookie.split('=');
  await page.context().addCookies([{ name, value, url: origin }]);
  const complaints = complaintsAbout(page, origin);
  await page.goto(`${origin}/teams/${member.team.publicId}${path}`);
  return { page, complaints };
}

/**
 * Ends the session of a page. The dashboard is left first. An open page would request data without a session, log errors,
 * and go to the sign-in page by itself.
 */
export async function loseSession(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/healthz`);
  await page.context().clearCookies();
}

/** Saves a screenshot, and checks that the page has no serious fault. */
export async function assertSoundDashboard(page: Page, picture: string): Promise<void> {
  await keepPicture(page, `dashboard-${picture}`);
  assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], picture);
}

export const nameOfLook = ({ width, height, colorScheme }: Look) => `${width}×${height}-${colorScheme}`;
