import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desktop, newPage } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { measureFirstLoad } from '#test/support/browser/first-load.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';

/** All files and data of the first page, compressed with Brotli (docs/testing.md). */
const bytesMax = 250 * 1_024;

describe('the first load of the dashboard (specification section 12.3)', () => {
  const { service, browser } = givenBrowserTeam();
  const owner = given(async () => newMember(service, await service.newTeam(), 'owner'));

  for (const [path, shown] of [
    ['', 'Get started'],
    ['/conversations', 'No conversations yet'],
    ['/messages', 'No messages yet'],
  ] as const) {
    it(`the first load of ${path || '/'} takes at most 250 KB, all from this server (§12.3/dashboard-pages)`, async () => {
      const page = await newPage(browser, desktop);
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
