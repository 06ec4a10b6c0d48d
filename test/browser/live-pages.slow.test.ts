import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { openDashboard } from '#test/support/browser/dashboard-page.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

/** Shorter than the interval at which pages read again, so a change within it came by the live stream. */
const limitMs = 15_000;

describe('pages that follow the live stream in a browser (specification section 12.9)', () => {
  const { service, team, browser } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'owner'));
  const number = given(() => connectNumber(service, team));

  const open = async (path: string): Promise<Page> => {
    const page = await openDashboard(browser, member, path, desktop);
    await page.waitForLoadState('networkidle').catch(() => undefined);
    page.setDefaultTimeout(limitMs);
    return page;
  };

  it('a received message appears live in the log, in the list of conversations and in the unread count', async () => {
    await receive(number, '+14155550150', 'The first of all');
    const pages = await Promise.all([open('/messages'), open('/conversations'), open('/keys')]);
    const [log, list, elsewhere] = pages;
    assert.ok(log && list && elsewhere);
    await Promise.all([
      log.getByText('The first of all').waitFor(),
      list.getByText('The first of all').waitFor(),
    ]);
    await receive(number, '+14155550151', 'Hello from the stream');
    await Promise.all([
      log.getByText('Hello from the stream').waitFor(),
      list.getByText('Hello from the stream').waitFor(),
      elsewhere.getByRole('link', { name: /Conversations\s*2\s*unread/ }).waitFor(),
    ]);
    for (const page of pages) await page.context().close();
  });

  it('a page without a live stream reads again every 30 s (§12.9/refresh)', async () => {
    const page = await open('/messages');
    await page.route('**/live', (route) => route.abort());
    await page.clock.install();
    await page.reload();
    await page.getByText('No connection to Ownline.').waitFor();
    await receive(number, '+14155550152', 'Without a hint');
    await page.clock.fastForward(30_000);
    await page.getByText('Without a hint').waitFor();
    await page.context().close();
  });

  it('a new key of another member appears live, even if the browser was offline meanwhile', async () => {
    const page = await open('/keys');
    await member.post(member.in('/keys'), { name: 'Made elsewhere', permissions: ['team:read'] });
    await page.getByText('Made elsewhere').waitFor();
    await page.context().setOffline(true);
    await member.post(member.in('/keys'), { name: 'Made meanwhile', permissions: ['team:read'] });
    await page.context().setOffline(false);
    await page.getByText('Made meanwhile').waitFor();
    await page.context().close();
  });

  it('a change of deliveries rereads only the newest page of a long delivery log (§12.9/lists)', async () => {
    const webhook = await newWebhook(team.api);
    for (let n = 0; n < 60; n += 1) await newDelivery(service, team, webhook.id, { ageMs: 60_000 + n });
    const page = await open(`/webhooks/${webhook.id}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await rows.nth(25).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows.nth(50).waitFor();
    const reads: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.endsWith('/deliveries')) reads.push(search);
    });
    assert.equal((await team.api.post(`/v1/webhooks/${webhook.id}/test`)).status, 202);
    await page.getByText('Test', { exact: true }).first().waitFor();
    await rows.nth(51).waitFor();
    assert.ok(reads.length > 0);
    assert.deepEqual(
      reads.filter((search) => search.includes('cursor')),
      [],
    );
    await page.context().close();
  });
});
