import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepPicture, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openDashboard, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { assertSoundInBothThemes } from '#test/support/browser/sound-dashboard.ts';
import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';

describe('Home in a browser (specification section 12.10)', () => {
  const { service, browser } = givenBrowserTeam();

  for (const look of looks) {
    it(`${look.width} px: Home shows people of every role that the month’s limit is reached, and when the month ends`, async () => {
      const team = await service.newTeam({ plan: 'pro', monthlyLimit: 1 });
      const number = await connectNumber(service, team);
      await team.api.send({
        from: number.phoneNumber,
        to: '+14155550142',
        content: 'The last of this month',
      });
      await sendNext(number);
      for (const role of ['owner', 'member', 'viewer'] as const) {
        const person = await newMember(service, team, role);
        const { page, complaints } = await openWatchedDashboard(browser, person, '', look);
        const heading = role === 'viewer' ? 'One thing needs attention' : 'One thing needs you';
        await page.getByRole('heading', { name: heading }).waitFor();
        const limit = page.getByRole('link', { name: /The limit of this month is reached/ });
        assert.match(await limit.innerText(), /Sends are refused until the next month begins/);
        await page.getByText('1 of 1').waitFor();
        await page.getByText(/A new month begins/).waitFor();
        await assertSoundInBothThemes(page, `home-limit-${role}`, look);
        await limit.click();
        await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
        assert.deepEqual(complaints, []);
        await page.context().close();
      }
    });

    const name = nameOfLook(look);
    it(`${name}: Home warns that nothing is sent if the only number was deleted or is paused`, async () => {
      const team = await service.newTeam();
      const number = await connectNumber(service, team);
      await team.api.send({ from: number.phoneNumber, to: '+14155550142', content: 'The first' });
      await sendNext(number);
      const path = `/v1/numbers/${(await findNumber(team.api, number.phoneNumber))?.id}`;
      const { page, complaints } = await openWatchedDashboard(
        browser,
        await newMember(service, team, 'owner'),
        '',
        look,
      );
      await page.getByText('1 of 1 iPhone is online.').waitFor();
      const waiting = await team.api.send({
        from: number.phoneNumber,
        to: '+14155550142',
        content: 'Waits',
      });
      await team.api.put(path, { status: 'paused' });
      await page.getByRole('link', { name: /is paused\s+One message is waiting/ }).waitFor();
      await team.api.post(`/v1/messages/${waiting}/cancel`);
      await page.getByText('0 of 1 iPhone is online, and one is paused.').waitFor();
      await team.api.delete(path);
      await page.getByRole('link', { name: /No iPhone is connected/ }).waitFor();
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    it(`${name}: Home shows an owner at once what API keys changed of the team, and a member nothing of it (§5.3/key-changes-told)`, async () => {
      const team = await service.newTeam();
      const grace = await newMember(service, team, 'member', { name: 'Grace Example' });
      const owner = await newMember(service, team, 'owner');
      const { page, complaints } = await openWatchedDashboard(browser, owner, '', look);
      await page.getByRole('heading', { name: 'Get started' }).waitFor();
      const invited = { email: 'mary@example.com', role: 'admin' };
      await team.api.post('/v1/team/members/invite', invited);
      await page.getByText('invited mary@example.com as admin').waitFor();
      await team.api.put(`/v1/team/members/${grace.memberId}/role`, { role: 'viewer' });
      await page.getByText('made Grace Example a viewer instead of a member').waitFor();
      const lin = await newMember(service, team, 'viewer', { name: 'Lin Example' });
      await team.api.delete(`/v1/team/members/${lin.memberId}`);
      await page.getByText('removed Lin Example').waitFor();
      await team.api.put('/v1/team', { name: 'Example Ltd' });
      await page.getByText('renamed the team to Example Ltd').waitFor();
      await assertSoundInBothThemes(page, 'home-key-changes', look);
      await page
        .getByRole('link', { name: 'API keys', exact: true })
        .filter({ visible: true })
        .last()
        .click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      assert.deepEqual(complaints, []);
      await page.context().close();
      const other = await openDashboard(browser, grace, '', look);
      await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      assert.equal(await other.getByText('Changes to the team by API keys').count(), 0);
      await other.context().close();
    });

    it(`${name}: Home guides an owner to a first message by a simulated iPhone, which gets a reply`, async () => {
      const owner = await newMember(service, await service.newTeam(), 'owner');
      const { page, complaints } = await openWatchedDashboard(browser, owner, '', look);
      await page.getByRole('heading', { name: 'Get started' }).waitFor();
      await assertSoundInBothThemes(page, 'home-new', look);
      await page.getByRole('button', { name: 'Try a simulated iPhone' }).click();
      await page.getByRole('link', { name: 'Write to a fictional number' }).click();
      await page.getByRole('textbox', { name: 'Reply' }).fill('Hello, is this thing on?');
      await page.keyboard.press('Enter');
      await page.getByText(/^Delivered /).waitFor();
      await page.getByRole('log').getByRole('listitem').nth(1).waitFor();
      await keepPicture(page, `dashboard-home-first-message-${name}`);
      await page.getByRole('link', { name: 'Home' }).filter({ visible: true }).click();
      await page.getByRole('heading', { name: 'Everything is fine' }).waitFor();
      await page.getByText('Simulated').last().waitFor();
      await assertSoundInBothThemes(page, 'home-fine', look);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    it(`${name}: Home lists matters that need a person: an offline iPhone and failed messages`, async () => {
      const team = await service.newTeam();
      const viewer = await newMember(service, team, 'viewer');
      const number = await connectNumber(service, team);
      await receive(number, '+14155550142', 'Hello');
      await team.api.send({ from: number.phoneNumber, to: '+14155550142', content: 'Hello yourself' });
      await sendNext(number);
      const cancelled = await team.api.send({
        from: number.phoneNumber,
        to: '+14155550143',
        content: 'Late',
      });
      const { id, action } = await number.wire.poll();
      assert.deepEqual([id, action], [cancelled, 'send']);
      await number.wire.call('status', { id: cancelled, status: 'failed', error: 'no such number' });
      const page = await openDashboard(browser, viewer, '', look);
      await page.getByText('One message failed in the last 24 hours').waitFor();
      await assertSoundInBothThemes(page, 'home-failing', look);
      await page.getByText('One message failed in the last 24 hours').click();
      await page.getByRole('row').filter({ hasText: 'Late' }).waitFor();
      assert.match(page.url(), /status=failed/);
      await page.context().close();
    });
  }
});
