import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { looks, newPage } from '#test/support/browser/browser.ts';
import { type BrowserTeam, startBrowserTeam } from '#test/support/browser/browser-team.ts';
import { measureFirstLoad } from '#test/support/browser/first-load.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** All files and data of the first page, compressed with Brotli (docs/testing.md). */
const bytesMax = 250 * 1_024;

describe('the first load of the dashboard (specification section 12.3)', () => {
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

  for (const [path, shown] of [
    ['', 'Get started'],
    ['/conversations', 'No conversations yet'],
    ['/messages', 'No messages yet'],
  ] as const) {
    it(`the first load of ${path || '/'} takes at most 250 KB, all from this server (§12.3/dashboard-pages)`, async () => {
      const [look] = looks;
      assert.ok(look);
      const page = await newPage(browser, look);
      const [name = '', value = ''] = owner.cookie.split('=');
      await page.context().addCookies([{ name, value, url: service.baseUrl }]);
      const load = await measureFirstLoad(
        page,
        `${service.baseUrl}/teams/${owner.team.publicId}${path}`,
        shown,
      );
      assert.ok(load.bytes > 50_000 && load.bytes <= bytesMax, `${load.bytes} bytes`);
      assert.deepEqual(load.hosts, [new URL(service.baseUrl).host]);
      await page.context().close();
    });
  }
});
