import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { TeamMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { desktop, keepPicture, type Look, newPage, phone, startBrowser } from './browser.ts';
import { complaintsAbout, isDark, seriousAxeFindings, sidewaysOverflow } from './page-checks.ts';

/** Complaints about answers that refuse a request: Chromium reports each as a failed load. */
export const refusals = /status of 4\d\d/;

interface Opening {
  /** Size and theme of the page; by default those of the desktop. */
  readonly look?: Look;
  /** Another origin of the service, such as one with a host name. */
  readonly origin?: string;
  /** Complaints that the test provokes. */
  readonly provokes?: RegExp;
}

/** Opens pages that are closed after each test. From its first request on no page may have a fault (page-checks.ts). */
export interface Pages {
  readonly browser: Browser;
  /** Opens an address without a session. */
  readonly visit: (address: string, opening?: Opening) => Promise<Page>;
  /** Opens a page of the dashboard as a signed-in member. `path` is below the team's address: `/numbers` */
  readonly open: (member: TeamMember, path: string, opening?: Opening) => Promise<Page>;
}

/** A browser for a suite. */
export function givenPages(): Pages {
  const browser = given(() => startBrowser());
  const opened: { readonly page: Page; readonly faults: () => readonly string[] }[] = [];
  afterEach(async () => {
    const all = opened.splice(0);
    const found = all.flatMap(({ faults }) => faults());
    for (const { page } of all) await page.context().close();
    assert.deepEqual(found, []);
  });

  async function watch(origin: string, { look = desktop, provokes }: Opening): Promise<Page> {
    const page = await newPage(browser, look);
    const complaints = complaintsAbout(page, origin);
    opened.push({ page, faults: () => complaints.filter((complaint) => !provokes?.test(complaint)) });
    return page;
  }
  return {
    browser,
    visit: async (address, opening = {}) => {
      const page = await watch(new URL(address).origin, opening);
      await page.goto(address);
      return page;
    },
    open: async (member, path, opening = {}) => {
      const { origin = member.baseUrl } = opening;
      const page = await watch(origin, opening);
      const [name = '', value = ''] = member.cookie.split('=');
      await page.context().addCookies([{ name, value, url: origin }]);
      await page.goto(`${origin}/teams/${member.team.publicId}${path}`);
      return page;
    },
  };
}

/** A service with one team, and a browser, for a suite. @param settings of the service */
export function givenBrowserTeam(
  settings: Readonly<Record<string, string>> = {},
): Pages & { readonly service: TestService; readonly team: TestTeam } {
  return { ...givenTeam(settings), ...givenPages() };
}

/**
 * Checks the state of a page as a desktop in light and as a phone in dark, and saves a picture of each:
 * `<state>-<look>`. Afterwards the page has its earlier look again.
 */
export async function assertSound(page: Page, state: string): Promise<void> {
  const own = page.viewportSize()?.width === phone.width ? phone : desktop;
  assert.equal(await isDark(page), own.colorScheme === 'dark', 'the page has the theme of the system');
  for (const { width, height, colorScheme } of [own === phone ? desktop : phone, own]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    // Pages without the dashboard read the theme of the system once, when they load.
    await page.evaluate(`document.documentElement.dataset.theme = '${colorScheme}'`);
    await until('the page has the theme', async () => (await isDark(page)) === (colorScheme === 'dark'));
    const name = `${state}-${width}×${height}-${colorScheme}`;
    await keepPicture(page, name);
    assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], name);
  }
}

/**
 * Ends the session of a page. It leaves the dashboard first, because an open page would request data without a
 * session, log errors, and go to the sign-in page by itself.
 */
export async function loseSession(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/healthz`);
  await page.context().clearCookies();
}
