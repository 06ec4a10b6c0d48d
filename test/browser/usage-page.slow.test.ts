import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { commandLine } from '#server/platform/process/command-line.ts';
import { desktop, keepPicture, type Look, looks, phone } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putAccepted, putDay } from '#test/support/usage/given-usage.ts';

describe('the page of usage in a browser (specification section 12.3)', () => {
  let full: TeamMember;
  let empty: TeamMember;
  let spent: TeamMember;
  const { service, browser } = givenBrowserTeam();
  const choosing = givenService({ PLAN_CHANGES: 'owner:pro' });

  before(async () => {
    const team = await service.newTeam({ plan: 'starter' });
    // The clock is set to noon of the 22nd of next month, so that the chart has days before and after.
    const now = service.clock.now();
    service.clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 22, 12) - now.getTime());
    const month = service.clock.now().toISOString().slice(0, 7);
    full = await newMember(service, team, 'owner');
    empty = await newMember(service, await service.newTeam({ plan: 'enterprise' }), 'viewer');
    const small = await service.newTeam({ plan: 'free' });
    spent = await newMember(service, small, 'owner');
    for (let number = 1; number <= 22; number += 1) {
      const day = `${month}-${String(number).padStart(2, '0')}`;
      await putDay(service, team.id, { day, sent: (number * 37) % 61, received: (number * 23) % 47 });
    }
    await putAccepted(service, team.id, 812);
    await putAccepted(service, small.id, 100);
    for (const [day, sent] of [
      ['05', 38],
      ['12', 45],
      ['21', 17],
    ] as const)
      await putDay(service, small.id, { day: `${month}-${day}`, sent, received: 0 });
  });

  async function open(member: TeamMember, look: Look): Promise<{ page: Page; check: () => Promise<void> }> {
    const { page, complaints } = await openWatchedDashboard(browser, member, '/usage', look);
    const check = async () => {
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      assert.deepEqual(complaints, []);
    };
    return { page, check };
  }

  for (const look of looks) {
    it(`${nameOfLook(look)}: the usage page shows days, limits and plans, with and without messages (§12.7/usage)`, async () => {
      const { page, check } = await open(full, look);
      await page.getByText('812 messages sent, 649 received').waitFor();
      await page.getByText('Your plan', { exact: true }).waitFor();
      const shown = await page.innerText('main');
      assert.match(shown, /Your team has the plan Starter/);
      assert.match(shown, /further sends are refused/);
      assert.match(shown, /A plan is a set of limits that the operator of this server gives a team/);
      const current = page.getByRole('region', { name: 'Starter' });
      assert.match(await current.innerText(), /Your plan[\s\S]*1,000/);
      assert.equal(await page.getByText('Your plan', { exact: true }).count(), 1);
      await keepPicture(page, `dashboard-usage-full-${nameOfLook(look)}`);
      await check();
      await page.context().close();
      const other = await open(empty, look);
      await other.page.getByText('No messages this month yet').waitFor();
      await other.page.getByText(/has no limit of messages/).waitFor();
      await keepPicture(other.page, `dashboard-usage-empty-${nameOfLook(look)}`);
      await other.check();
      await other.page.context().close();
    });
  }

  it('on a phone, each day below the chart stands on one line and in the card (§12.12/page-sound)', async () => {
    const look = { width: 390, height: 844, colorScheme: 'light' } as const;
    // June has 30 days, so the last label is as far to the right as it can be.
    const year = service.clock.now().getUTCFullYear();
    const { page } = await openWatchedDashboard(browser, full, `/usage?month=${year}-06`, look);
    await page.getByRole('slider', { name: 'Day' }).waitFor();
    const labels = await page.evaluate<number[][]>(`(() => {
      const figure = document.querySelector('figure').getBoundingClientRect();
      const spans = [...document.querySelectorAll('figure > div:last-child > span')];
      return spans.map((span) => {
        const { height, right } = span.getBoundingClientRect();
        return [Math.round(height), Math.max(0, right - figure.right)];
      });
    })()`);
    assert.ok(labels.length >= 4);
    assert.deepEqual([...new Set(labels.map(String))], [`${labels[0]?.[0]},0`], 'one line each, in the card');
    await page.context().close();
  });

  it('an owner goes from the usage page to the page of plans, chooses one and reads the command for another (§8/choose-plan, §8/smaller-plan, §8/ask-for-plan)', async () => {
    for (const look of looks) {
      const team = await choosing.newTeam({ plan: 'free' });
      const owner = await newMember(choosing, team, 'owner');
      const { page, complaints } = await openWatchedDashboard(browser, owner, '/usage', look);
      await page.getByRole('link', { name: 'Manage the plan' }).click();
      const check = async (state: string) => {
        await keepPicture(page, `billing-${state}-${nameOfLook(look)}`);
        assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []], state);
      };
      await page.getByLabel('Choose a plan').selectOption('Pro');
      await page.getByRole('button', { name: 'Change the plan' }).click();
      await page.getByRole('status').getByText('The plan is changed.').waitFor();
      await page.getByText('Plan Pro', { exact: true }).waitFor();
      await check('chosen');
      await page
        .getByText(`${commandLine} team set-plan --team ${team.publicId} --plan enterprise`)
        .waitFor();
      assert.deepEqual(complaints, []);
      const admin = await newMember(choosing, team, 'admin');
      await putAccepted(choosing, team.id, 320);
      await page.getByLabel('Choose a plan').selectOption('Free');
      const change = page.getByRole('button', { name: 'Change the plan' });
      await change.click();
      await page.getByRole('heading', { name: 'Change from Pro to Free?' }).waitFor();
      await check('smaller');
      await page.getByRole('button', { name: 'Keep Pro' }).click();
      await page.getByText('Plan Pro', { exact: true }).waitFor();
      await page.getByLabel('Choose a plan').selectOption('Free');
      await change.click();
      await page.getByRole('button', { name: 'Change to Free' }).click();
      await page.getByText('Plan Free', { exact: true }).waitFor();
      const other = await openWatchedDashboard(browser, admin, '/usage', look);
      await other.page.getByText(/Owners manage the plan of the team: ask/).waitFor();
      assert.equal(await other.page.getByRole('link', { name: 'Manage the plan' }).count(), 0);
      await other.page.context().close();
      await page.context().close();
    }
  });

  it("the keyboard moves through the usage chart by day, and the month is in the page's address", async () => {
    const { page } = await open(full, desktop);
    const days = page.getByRole('slider', { name: 'Day' });
    await days.focus();
    assert.match((await days.getAttribute('aria-valuetext')) ?? '', / 22: 21 sent, 36 received$/);
    await page.keyboard.press('ArrowLeft');
    assert.match((await days.getAttribute('aria-valuetext')) ?? '', / 21: 45 sent, 13 received$/);
    await page.getByText(/ 21: 45 sent, 13 received$/).waitFor();
    await page.keyboard.press('Home');
    await page.getByText(/ 1: 37 sent, 23 received$/).waitFor();
    await page.getByRole('button', { name: 'Month before' }).click();
    await page.getByText('No messages in this month').waitFor();
    assert.match(page.url(), /\?month=\d{4}-\d\d$/);
    await page.reload();
    await page.getByText('No messages in this month').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Month before' }).isDisabled(), true);
    await page.getByRole('button', { name: 'Next month' }).click();
    await page.getByText('812 messages sent, 649 received').waitFor();
    await page.context().close();
  });

  it("the usage page says that the month's messages are used up, and /billing leads to it (§8/upgrade-page)", async () => {
    const { page, check } = await open(spent, phone);
    await page.goto(`${service.baseUrl}/billing`);
    await page.getByRole('link', { name: 'See the usage of Example team' }).click();
    await page.getByText('The month’s messages are used up.').waitFor();
    await keepPicture(page, `dashboard-usage-spent-${nameOfLook(phone)}`);
    await check();
    await page.context().close();
  });
});
