import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { looks, startBrowser } from '#test/support/browser/browser.ts';
import { addressOf, dashboardRoutes } from '#test/support/browser/dashboard-routes.ts';
import { givenFullTeam } from '#test/support/browser/full-team.ts';
import { openSoundDashboard } from '#test/support/browser/sound-dashboard.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';

interface Walk {
  readonly owner: TeamMember;
  /** Prefix of the names of screenshots: `empty` or `full`. */
  readonly name: string;
  readonly addresses: readonly string[];
}

/** Ids that do not exist, so that pages show their error. */
const unknownValues = {
  phoneNumber: '+14155550100',
  contact: '+14155550199',
  id: 'num_01KAAAAAAAAAAAAAAAAAAAAAAA',
  webhookId: 'wh_01KAAAAAAAAAAAAAAAAAAAAAAA',
};

describe('every page of the dashboard, as web/router.tsx lists them (specification section 12.12)', () => {
  let service: TestService;
  let browser: Browser;
  const walks: Walk[] = [];
  let routes: readonly string[];

  before(async () => {
    service = await startTestService();
    routes = await dashboardRoutes();
    const empty = await newMember(service, await service.newTeam(), 'owner', { name: 'Ada Example' });
    walks.push({
      owner: empty,
      name: 'empty',
      addresses: routes.map((route) => addressOf(route, unknownValues)),
    });
    const { owner, values, messageId, deliveryId } = await givenFullTeam(service);
    walks.push({
      owner,
      name: 'full',
      addresses: [
        ...routes.map((route) => addressOf(route, values)),
        `/messages?message=${messageId}`,
        `/webhooks/${values.webhookId}?delivery=${deliveryId}`,
        '/numbers?connect=true',
        `/numbers/${values.id}?setup=true`,
      ],
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await service.close();
  });

  /** Whether a link leads to a page of web/router.tsx or to an address that the server answers. */
  async function leadsToPage(link: string): Promise<boolean> {
    const { origin, pathname } = new URL(link);
    if (origin !== service.baseUrl) return true;
    const [, path] = /^\/teams\/[^/]+(\/.*)?$/.exec(pathname) ?? [undefined, undefined];
    if (!pathname.startsWith('/teams/')) return (await fetch(link, { redirect: 'manual' })).status < 400;
    return routes.some((route) =>
      new RegExp(`^/?${route === '/' ? '' : route.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path ?? ''),
    );
  }

  for (const look of looks) {
    it(`every page at ${look.width} px passes the page checks and has no dead link, in both themes (§12.12/page-sound)`, async () => {
      const faults: string[] = [];
      const links = new Set<string>();
      for (const { owner, name, addresses } of walks) {
        const { page, assertSound, assertQuiet } = await openSoundDashboard({
          browser,
          member: owner,
          path: '',
          look,
        });
        for (const address of addresses) {
          await page.goto(`${service.baseUrl}/teams/${owner.team.publicId}${address}`);
          await loaded(page);
          for (const link of await linksOf(page)) links.add(link);
          const state = `all-${name}${address.replaceAll(/\W+/g, '-')}`;
          await assertSound(state).catch((error: Error) => faults.push(error.message));
        }
        await assertQuiet();
      }
      for (const link of links) if (!(await leadsToPage(link))) faults.push(`no page: ${link}`);
      // All faults are reported together, because the walk takes long.
      assert.deepEqual(faults, []);
    });
  }
});

const linksOf = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => link.href.replace(/#.*/, ''))`,
  );

/** Waits until the page and its dialog have loaded. */
async function loaded(page: Page): Promise<void> {
  const isDialogOpen = /[?&](message|delivery|connect|setup)=/.test(page.url());
  const shown = isDialogOpen ? page.getByRole('dialog') : page.locator('main :is(h1, h2):visible').first();
  await shown.waitFor();
  await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' });
}
