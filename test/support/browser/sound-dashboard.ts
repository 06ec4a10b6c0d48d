import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { TeamMember } from '#test/support/people/people.ts';
import { until } from '#test/support/service/until.ts';
import { keepPicture, type Look } from './browser.ts';
import { openWatchedDashboard } from './dashboard-page.ts';
import { isDark, seriousAxeFindings, sidewaysOverflow } from './page-checks.ts';

interface SoundDashboard {
  readonly page: Page;
  /** Checks the current state in both themes, and saves a screenshot of each: `dashboard-<state>-<look>`. */
  readonly assertSound: (state: string) => Promise<void>;
  /** Checks that the page had no error, CSP violation or failed load since it was opened, and closes it. */
  readonly assertQuiet: () => Promise<void>;
}

/** Opens a page of the dashboard that a test checks at each step of a journey. */
export async function openSoundDashboard(opened: {
  readonly browser: Browser;
  readonly member: TeamMember;
  readonly path: string;
  readonly look: Look;
}): Promise<SoundDashboard> {
  const { browser, member, path, look } = opened;
  const { page, complaints } = await openWatchedDashboard(browser, member, path, look);
  return {
    page,
    assertSound: (state) => assertSoundInBothThemes(page, state, look),
    assertQuiet: async () => {
      // Ignores failed loads with these statuses: Chromium also reports a refusal of the API as a failed load.
      assert.deepEqual(
        complaints.filter((complaint) => !/status of 40[024]/.test(complaint)),
        [],
      );
      await page.context().close();
    },
  };
}

/** Checks the state in both themes of the page's size. A journey runs in two sizes, so all looks are checked. */
export async function assertSoundInBothThemes(page: Page, state: string, look: Look): Promise<void> {
  await assertSoundIn(page, state, look);
  await assertSoundIn(page, state, { ...look, colorScheme: look.colorScheme === 'light' ? 'dark' : 'light' });
  await page.emulateMedia({ colorScheme: look.colorScheme });
}

async function assertSoundIn(page: Page, state: string, { width, height, colorScheme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await until('the page has the theme', async () => (await isDark(page)) === (colorScheme === 'dark'));
  const name = `dashboard-${state}-${width}×${height}-${colorScheme}`;
  await keepPicture(page, name);
  assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], name);
}
