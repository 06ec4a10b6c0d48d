import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desktop, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { assertSoundDashboard, nameOfLook, openDashboard } from '#test/support/browser/dashboard-page.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

describe('erasing a contact in a browser (specification section 12.14)', () => {
  const opened = givenBrowserTeam();
  const number = given(() => connectNumber(opened.service, opened.team));

  it('an admin erases a contact by typing the handle, and a member has no button for that (§12.14/erase)', async () => {
    const { service, team, browser } = opened;
    const admin = await newMember(service, team, 'admin');
    const contact = '+14155550142';
    for (const look of looks) {
      await receive(number, contact, `A secret of ${nameOfLook(look)}`);
      await team.api.send({ from: number.phoneNumber, to: contact, content: 'It waits' });
      const page = await openDashboard(
        browser,
        admin,
        `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`,
        look,
      );
      await page.getByRole('main').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Erase this contact' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Goes for good:').waitFor();
      const button = dialog.getByRole('button', { name: 'Erase contact' });
      assert.ok(await button.isDisabled());
      await dialog.getByRole('textbox').fill('+1 415 555 0142');
      await assertSoundDashboard(page, `erase-dialog-${nameOfLook(look)}`);
      await button.click();
      // The page says the second on a busy machine: the answer waits 4 s for the end of the erasure.
      await page.getByText(/^The contact is (erased|being erased)$/).waitFor();
      await page.getByText('A secret of').waitFor({ state: 'hidden' });
      await until('the messages are erased', async () => {
        return (await storedMessages(service, { teamId: team.id, from: contact })).length === 0;
      });
      await page.context().close();

      const log = await openDashboard(browser, admin, '/messages', look);
      await log.getByText('The text was erased').first().waitFor();
      await assertSoundDashboard(log, `erased-messages-${nameOfLook(look)}`);
      await log.context().close();
    }
    await receive(number, contact, 'Hello again');
    const member = await newMember(service, team, 'member');
    const page = await openDashboard(
      browser,
      member,
      `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`,
      desktop,
    );
    await page.getByRole('main').getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Opt out this contact' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: 'Erase this contact' }).count(), 0);
    await page.context().close();
  });
});
