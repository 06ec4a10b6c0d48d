import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { commandLine } from '#server/platform/process/product-version.ts';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { putAccepted, putDay } from '#test/support/usage/given-usage.ts';

describe('the page of usage in a browser', () => {
  let full: TeamMember;
  let spent: TeamMember;
  const { service, open } = givenBrowserTeam({ PLAN_CHANGES: 'owner:pro' });

  before(async () => {
    const team = await service.newTeam({ plan: 'starter' });
    // The clock is set to noon of the 22nd of next month, so that the chart has days before and after.
    const now = service.clock.now();
    service.clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 22, 12) - now.getTime());
    const month = service.clock.now().toISOString().slice(0, 7);
    full = await newMember(service, team, 'owner');
    for (let number = 1; number <= 22; number += 1) {
      const day = `${month}-${String(number).padStart(2, '0')}`;
      await putDay(service, team.id, { day, sent: (number * 37) % 61, received: (number * 23) % 47 });
    }
    await putAccepted(service, team.id, 812);
    const small = await service.newTeam({ plan: 'free' });
    spent = await newMember(service, small, 'owner');
    await putAccepted(service, small.id, 100);
  });

  it('the usage page shows days, limits and plans, and the current month if the address names no valid month', async () => {
    const page = await open(full, '/usage?month=2026-13');
    await page.getByText('812 messages sent, 649 received').waitFor();
    await page.getByText('Your plan', { exact: true }).waitFor();
    const shown = await page.innerText('main');
    assert.match(shown, /Your team has the plan Starter/);
    assert.match(shown, /further sends are refused/);
    assert.match(shown, /A plan is a set of limits that the operator of this server gives a team/);
    const current = page.getByRole('region', { name: 'Starter' });
    assert.match(await current.innerText(), /Your plan[\s\S]*1,000/);
    assert.equal(await page.getByText('Your plan', { exact: true }).count(), 1);
    await assertSound(page, 'dashboard-usage');
  });

  it('on a phone, each day’s label below the chart is on one line and within the card', async () => {
    // June has 30 days, so the last label is as far to the right as it can be.
    const year = service.clock.now().getUTCFullYear();
    const page = await open(full, `/usage?month=${year}-06`, { look: phone });
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
  });

  it('an owner goes from the usage page to the page of plans, chooses a plan, and reads the command for a larger plan', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const page = await open(await newMember(service, team, 'owner'), '/usage', { look: phone });
    await page.getByRole('link', { name: 'Manage the plan' }).click();
    // A page that is left while it loads its font aborts that request.
    const press = async (name: string) => {
      await page.waitForLoadState();
      await page.getByRole('button', { name }).click();
    };
    const choose = async (plan: string) => {
      await page.getByLabel('Choose a plan').selectOption(plan);
      await press('Change the plan');
    };
    await choose('Pro');
    await page.getByRole('status').getByText('The plan is changed.').waitFor();
    await page.getByText('Plan Pro', { exact: true }).waitFor();
    await assertSound(page, 'billing-chosen');
    await page.getByText(`${commandLine} team set-plan --team ${team.publicId} --plan enterprise`).waitFor();
    await newMember(service, team, 'viewer');
    await choose('Free');
    await page.getByRole('heading', { name: 'Change from Pro to Free?' }).waitFor();
    await assertSound(page, 'billing-smaller');
    await press('Keep Pro');
    await page.getByText('Plan Pro', { exact: true }).waitFor();
    await choose('Free');
    await press('Change to Free');
    await page.getByText('Plan Free', { exact: true }).waitFor();
  });

  it("the keyboard moves through the usage chart by day, and the month is in the page's address", async () => {
    const page = await open(full, '/usage');
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
  });

  it("the usage page says that the month's messages are used up, and /billing leads to it", async () => {
    const page = await open(spent, '/usage', { look: phone });
    await page.goto(`${service.baseUrl}/billing`);
    await page.getByRole('link', { name: 'See the usage of Example team' }).click();
    await page.getByText('The month’s messages are used up.').waitFor();
    await assertSound(page, 'dashboard-usage-spent');
  });
});
