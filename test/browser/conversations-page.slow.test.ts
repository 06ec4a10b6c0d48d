import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { desktop, keepPicture, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { nameOfLook, openDashboard, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';

const ada = '+14155550142';
const bob = '+14155550143';

describe('the page of conversations in a browser (specification section 12.11)', () => {
  let number: ConnectedNumber;
  let member: TeamMember;
  let viewer: TeamMember;
  const { service, team, browser } = givenBrowserTeam();

  before(async () => {
    await newMember(service, team, 'owner', { name: 'Olga Example' });
    member = await newMember(service, team, 'member');
    viewer = await newMember(service, team, 'viewer');
    number = await connectNumber(service, team);
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Front desk' });
    await receive(number, bob, 'Are you open on Sunday?');
    await receive(
      number,
      ada,
      'Hi! I would like to move my appointment from Tuesday to Friday, if you have a slot.',
    );
  });

  for (const look of looks) {
    const name = nameOfLook(look);
    it(`${name}: a member reads, replies with Enter and follows the reply to the phone (§12.3/dashboard-pages)`, async () => {
      const { page, complaints } = await openWatchedDashboard(browser, member, '/conversations', look);
      await page.getByRole('link', { name: /\+1 415 555 0142/ }).waitFor();
      await keepPicture(page, `dashboard-conversations-list-${name}`);
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      await page.getByRole('link', { name: /\+1 415 555 0142/ }).click();
      await page.getByRole('heading', { name: '+1 415 555 0142' }).waitFor();
      const reply = `Friday at ${look.width} is yours (${look.colorScheme}).`;
      await page.getByRole('textbox', { name: 'Reply' }).fill(reply);
      await page.keyboard.press('Enter');
      await page.getByText('Waiting.').waitFor();
      assert.equal(await page.getByRole('textbox', { name: 'Reply' }).inputValue(), '');
      await keepPicture(page, `dashboard-conversations-waiting-${name}`);
      await sendNext(number);
      await page.getByText(/^Delivered /).waitFor();
      await keepPicture(page, `dashboard-conversations-thread-${name}`);
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  it('opening a conversation lowers the unread count at once, and a reply leaves no unread message (§12.12/page-conversations)', async () => {
    const quiet = await service.newTeam();
    const grace = await newMember(service, quiet, 'member');
    const phone = await connectNumber(service, quiet);
    for (const contact of [ada, bob]) await receive(phone, contact, 'Are you open on Sunday?');
    const page = await openDashboard(browser, grace, '/conversations', desktop);
    const badge = (count: number) =>
      page.getByRole('link', { name: new RegExp(`^Conversations\\s*${count}\\s*unread`) }).first();
    await badge(2).waitFor();
    let markRead = () => {};
    const isMarked = new Promise<void>((resolve) => {
      markRead = resolve;
    });
    await page.route('**/read', async (route) => {
      await isMarked;
      await route.continue();
    });
    await page.getByRole('link', { name: /0142/ }).click();
    await badge(1).waitFor();
    markRead();
    await page.getByRole('textbox', { name: 'Reply' }).fill('From ten to four.');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting.').waitFor();
    await page.reload();
    await badge(1).waitFor();
    assert.equal(await page.getByRole('link', { name: /0142.*unread/ }).count(), 0);
    await page.context().close();
  });

  it('a viewer reads conversations, has no reply field, and reads whom to ask (§12.12/page-permissions)', async () => {
    const page = await openDashboard(browser, viewer, '/conversations', desktop);
    await page.getByRole('link', { name: /\+1 415 555 0143/ }).click();
    await page.getByText('Are you open on Sunday?').last().waitFor();
    await page.getByText('To reply, ask Olga Example for the role Member.').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Reply' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'New message' }).count(), 0);
    await page.context().close();
  });
});
