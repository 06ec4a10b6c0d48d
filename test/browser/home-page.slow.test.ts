import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const to = '+14155550142';

describe('Home in a browser', () => {
  const { service, open } = givenBrowserTeam();

  const send = ({ api }: TestTeam, { phoneNumber }: ConnectedNumber, content: string) =>
    api.send({ from: phoneNumber, to, content });

  it('Home shows people of every role that the month’s limit is reached, and when the month ends', async () => {
    const team = await service.newTeam({ plan: 'pro', monthlyLimit: 1 });
    const number = await connectNumber(service, team);
    await send(team, number, 'The last of this month');
    await sendNext(number);
    for (const role of ['owner', 'member', 'viewer'] as const) {
      const page = await open(await newMember(service, team, role), '', { look: phone });
      const heading = role === 'viewer' ? 'One thing needs attention' : 'One thing needs you';
      await page.getByRole('heading', { name: heading }).waitFor();
      const limit = page.getByRole('link', { name: /The limit of this month is reached/ });
      assert.match(await limit.innerText(), /Sends are refused until the next month begins/);
      await page.getByText('1 of 1').waitFor();
      await page.getByText(/A new month begins/).waitFor();
      if (role !== 'member') await assertSound(page, `dashboard-home-limit-${role}`);
      await limit.click();
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    }
  });

  it('Home warns that nothing is sent if the only number was deleted or is paused', async () => {
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    await send(team, number, 'The first');
    await sendNext(number);
    const page = await open(await newMember(service, team, 'owner'), '');
    await page.getByText('1 of 1 iPhone is online.').waitFor();
    const waiting = await send(team, number, 'Waits');
    const path = `/v1/numbers/${number.numberId}`;
    await team.api.put(path, { status: 'paused' });
    await page.getByRole('link', { name: /is paused\s+One message is waiting/ }).waitFor();
    await team.api.post(`/v1/messages/${waiting}/cancel`);
    await page.getByText('0 of 1 iPhone is online, and one is paused.').waitFor();
    await team.api.delete(path);
    await page.getByRole('link', { name: /No iPhone is connected/ }).waitFor();
  });

  it('Home shows an owner at once which changes API keys made to the team, and shows a member none of them (§5.3/key-changes-told)', async () => {
    const team = await service.newTeam();
    const grace = await newMember(service, team, 'member', { name: 'Grace Example' });
    const page = await open(await newMember(service, team, 'owner'), '', { look: phone });
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    await team.api.post('/v1/team/members/invite', { email: 'mary@example.com', role: 'admin' });
    await page.getByText('invited mary@example.com as admin').waitFor();
    await team.api.put(`/v1/team/members/${grace.memberId}/role`, { role: 'viewer' });
    await page.getByText('made Grace Example a viewer instead of a member').waitFor();
    const lin = await newMember(service, team, 'viewer', { name: 'Lin Example' });
    await team.api.delete(`/v1/team/members/${lin.memberId}`);
    await page.getByText('removed Lin Example').waitFor();
    await team.api.put('/v1/team', { name: 'Example Ltd' });
    await page.getByText('renamed the team to Example Ltd').waitFor();
    await assertSound(page, 'dashboard-home-key-changes');
    await page.getByRole('main').getByRole('link', { name: 'API keys', exact: true }).last().click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    const other = await open(grace, '');
    await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    assert.equal(await other.getByText('Changes to the team by API keys').count(), 0);
  });

  it('Home guides an owner to a first message by a simulated iPhone, and the message gets a reply', async () => {
    const page = await open(await newMember(service, await service.newTeam(), 'owner'), '', { look: phone });
    await page.getByRole('button', { name: 'Try a simulated iPhone' }).click();
    await page.getByRole('link', { name: 'Write to a fictional number' }).click();
    await page.getByRole('textbox', { name: 'Reply' }).fill('Hello, is this thing on?');
    await page.keyboard.press('Enter');
    await page.getByText(/Delivered /).waitFor();
    await page.getByRole('log').getByRole('listitem').nth(1).waitFor();
    await page.getByRole('link', { name: 'Back to the conversations' }).click();
    await page.getByRole('link', { name: 'Home' }).filter({ visible: true }).click();
    await page.getByRole('heading', { name: 'Everything is fine' }).waitFor();
    await page.getByText('Simulated').last().waitFor();
    await assertSound(page, 'dashboard-home-fine');
  });

  it('Home links to the messages that failed in the last day', async () => {
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    await send(team, number, 'The first');
    await sendNext(number);
    const id = await send(team, number, 'Late');
    await number.wire.poll();
    await number.wire.call('status', { id, status: 'failed', error: 'no such number' });
    const page = await open(await newMember(service, team, 'viewer'), '');
    await page.getByText('One message failed in the last 24 hours').click();
    await page.getByRole('row').filter({ hasText: 'Late' }).waitFor();
    assert.match(page.url(), /status=failed/);
  });
});
