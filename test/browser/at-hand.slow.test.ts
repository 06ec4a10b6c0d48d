import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { looks, phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';

const ada = '+14155550142';

describe('keys of the dashboard, and a conversation on a phone (specification section 12.4)', () => {
  const { service, team, open } = givenBrowserTeam();
  const olivia = given(() => newMember(service, team, 'member', { name: 'Olivia Example' }));
  const number = given(() => connectNumber(service, team));
  before(async () => {
    for (const contact of ['+14155550143', ada]) await receive(number, contact, 'Are you open on Sunday?');
  });

  for (const look of looks) {
    it(`${look.width} px: Ctrl and K opens a page or a conversation by a few letters`, async () => {
      const page = await open(olivia, '/settings', { look });
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Go to' });
      const field = dialog.getByRole('textbox');
      await dialog.getByRole('link', { name: /0142/ }).waitFor();
      await assertSound(page, 'at-hand-switcher');
      await field.fill('numb');
      await dialog.getByRole('link', { name: /0142/ }).waitFor({ state: 'detached' });
      await field.press('Enter');
      await page.getByRole('heading', { name: 'Numbers', level: 1 }).waitFor();
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await field.fill('0142');
      await dialog.getByRole('link', { name: /0143/ }).waitFor({ state: 'detached' });
      await dialog.getByRole('link', { name: /0142/ }).first().waitFor();
      await assertSound(page, 'at-hand-switcher-found');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: '+1 415 555 0142' }).waitFor();
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });
  }

  it('? shows the keys, but not while a person writes', async () => {
    const page = await open(olivia, `/conversations/${number.phoneNumber}/${encodeURIComponent(ada)}`);
    const reply = page.getByRole('textbox', { name: 'Reply' });
    await reply.fill('Yes');
    await reply.press('?');
    assert.equal(await reply.inputValue(), 'Yes?');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('Done, or waiting again').waitFor();
    await assertSound(page, 'at-hand-keys');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('a conversation has the whole window of a phone, and leads back to the list', async () => {
    const page = await open(olivia, '/conversations', { look: phone });
    const tabs = page.getByRole('navigation', { name: 'Pages' });
    await tabs.waitFor();
    await page.getByRole('link', { name: /0142/ }).click();
    const reply = page.getByRole('textbox', { name: 'Reply' });
    await reply.waitFor();
    assert.equal(await tabs.isVisible(), false);
    const box = await reply.boundingBox();
    assert.ok(box && box.y + box.height > phone.height - 40, JSON.stringify(box));
    await assertSound(page, 'at-hand-phone-thread');
    await page.getByRole('link', { name: 'Back to the conversations' }).click();
    await tabs.waitFor();
  });
});
