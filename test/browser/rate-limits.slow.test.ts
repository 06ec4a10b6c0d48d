import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desktop, looks, startBrowser } from '#test/support/browser/browser.ts';
import { assertSoundDashboard, nameOfLook, openDashboard } from '#test/support/browser/dashboard-page.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

/** Seconds that are left of the rate limit's minute: enough to see the refusals. */
const leftSeconds = 15;
const sessionLimit = 'Too many requests: a session has 600 a minute.';

describe('rate limits in a browser (specification section 12.12)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });
  const browser = given(startBrowser);

  /** Uses up a session's requests for the rest of the minute. */
  const exhaust = async (member: TeamMember) => {
    nextMinute(service.clock);
    const path = '/app/account/sessions';
    const answers = await Promise.all(Array.from({ length: 601 }, () => member.get(path)));
    const refused = answers.find(({ status }) => status === 429);
    assert.ok(refused, 'the session is past its limit');
    const seconds = Number(refused.headers.get('retry-after'));
    service.clock.advance(Math.max(0, seconds - leftSeconds) * 1_000);
  };

  for (const look of looks) {
    const name = nameOfLook(look);
    it(`${name}: after a 429 a read is repeated, a write keeps the typed text, and both show when the limit ends (§12.12/page-rate-limits, §12.3/csrf-and-checks)`, async () => {
      const owner = await newMember(service, await service.newTeam(), 'owner');
      const reading = await openDashboard(browser, owner, '/settings', look);
      const writing = await openDashboard(browser, owner, '/keys', look);
      await reading.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
      await writing.getByRole('button', { name: 'Create key' }).first().click();
      const dialog = writing.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('Reports');
      await exhaust(owner);

      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText(sessionLimit).waitFor();
      await dialog.getByText(/^You can try again in \d+ s\.$/).waitFor();
      await reading.getByRole('link', { name: 'Messages', exact: true }).filter({ visible: true }).click();
      await reading.getByText(sessionLimit).waitFor();
      await reading.getByText(/It is tried again by itself in \d+ s\.$/).waitFor();
      await assertSoundDashboard(reading, `limited-read-${name}`);
      await assertSoundDashboard(writing, `limited-write-${name}`);

      await reading.getByText('No messages yet').waitFor();
      await dialog.getByText('You can try again now.').waitFor();
      assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Reports');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('Copy your key now').waitFor();
      for (const page of [reading, writing]) await page.context().close();
    });
  }

  it('a page opened beyond the rate limit loads by itself when the limit ends (§12.3/browser-headers)', async () => {
    const owner = await newMember(service, await service.newTeam(), 'owner');
    await exhaust(owner);
    const page = await openDashboard(browser, owner, '/keys', desktop);
    await page.getByText(new RegExp(`${sessionLimit} Retry in \\d+ seconds?\\.`)).waitFor();
    await page.getByText('This page loads again by itself then.').waitFor();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.context().close();
  });
});
