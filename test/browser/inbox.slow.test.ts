import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { looks, phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { findConversation, receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const ada = '+14155550142';
const bob = '+14155550143';

describe('the list of conversations in a browser (specification section 12.4)', () => {
  const { service, team, open } = givenBrowserTeam();
  const olivia = given(() => newMember(service, team, 'member', { name: 'Olivia Example' }));
  const sam = given(() => newMember(service, team, 'member', { name: 'Sam Example' }));
  const number = given(() => connectNumber(service, team));

  before(async () => {
    for (let n = 30; n >= 1; n -= 1) await receive(number, `+1415555${1200 + n}`, `Question ${n}`);
    for (const contact of [bob, ada]) await receive(number, contact, 'Are you open on Sunday?');
  });

  const row = (page: Page, name: RegExp) => page.getByRole('listitem').getByRole('link', { name });
  const segment = (page: Page, name: string | RegExp) =>
    page.getByRole('group', { name: 'Conversations to show' }).getByRole('button', { name });

  for (const look of looks) {
    it(`${look.width} px: conversations that wait come first, and each row says who wrote last`, async () => {
      const { phoneNumber: from } = number;
      const mine = '+14155550150';
      const theirs = '+14155550151';
      const byKey = '+14155550152';
      await olivia.post(olivia.in('/messages/send'), { from, to: mine, content: 'On my way' });
      await sam.post(sam.in('/messages/send'), { from, to: theirs, content: 'On our way' });
      await team.api.send({ from, to: byKey, content: 'Your table is ready' });
      for (let n = 0; n < 3; n += 1) await sendNext(number);
      const page = await open(olivia, '/conversations', { look });
      await row(page, /0142.*Waiting for an answer/).waitFor();
      assert.equal(await segment(page, /^Waiting 32$/).getAttribute('aria-pressed'), 'true');
      assert.equal(await row(page, /0150/).count(), 0);
      const { height = 0 } = (await row(page, /0142/).boundingBox()) ?? {};
      assert.ok(height > 0 && height <= 66, `a row has ${height} px, so that ten fit`);
      await assertSound(page, 'inbox-waiting');
      await segment(page, 'All').click();
      for (const text of ['0150.*You: On my way', '0151.*Sam: On our way', '0152.*test: Your table is ready'])
        await row(page, new RegExp(text)).waitFor();
      await assertSound(page, 'inbox-all');
    });
  }

  it('a conversation that is done stays among those that wait until the person leaves it, and can be undone', async () => {
    const page = await open(olivia, '/conversations');
    await row(page, /0143/).click();
    await page.getByRole('heading', { name: '+1 415 555 0143' }).waitFor();
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText('Marked as done').waitFor();
    await row(page, /0143.*Done/).waitFor();
    await assertSound(page, 'inbox-done');
    const isWaiting = async () => (await findConversation(olivia, bob))?.waiting;
    assert.equal(await isWaiting(), false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, /0143.*Waiting for an answer/).waitFor();
    await until('it waits again', async () => (await isWaiting()) === true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    await row(page, /0143.*Done/).waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await row(page, /0143/).waitFor({ state: 'detached' });
  });

  it('a colleague sees without a reload, in two seconds, that a person answered, and who (§12.4/waiting)', async () => {
    const waiting = await open(sam, '/conversations');
    const all = await open(sam, '/conversations?view=all');
    for (const page of [waiting, all]) await row(page, /0142/).waitFor();
    const mine = await open(olivia, `/conversations/${number.phoneNumber}/${encodeURIComponent(ada)}`);
    await mine.getByRole('textbox', { name: 'Reply' }).fill('From ten to four.');
    const at = Date.now();
    await mine.keyboard.press('Enter');
    await row(waiting, /0142/).waitFor({ state: 'detached' });
    // A hint follows an earlier one after 0.9 s, and the page reads the list again after a second.
    assert.ok(Date.now() - at < 2_500, `${Date.now() - at} ms`);
    await row(all, /0142.*Olivia: From ten to four\./).waitFor();
    await row(mine, /0142.*You: From ten to four\..*Done/).waitFor();
  });

  it('the list keeps its place: the open conversation stays in view as others arrive, and after an answer', async () => {
    const contact = '+14155551204';
    const page = await open(olivia, `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`);
    const opened = row(page, /1204/);
    await opened.waitFor();
    const isInView = () =>
      opened.evaluate((element: { getBoundingClientRect: () => { top: number; bottom: number } }) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top > 100 && bottom <= 800;
      });
    await until('it is in view', isInView);
    const above = () =>
      opened.evaluate(
        (element: { parentElement: { previousElementSibling: { textContent: string } } }) =>
          element.parentElement.previousElementSibling.textContent,
      );
    const before = await above();
    for (let n = 0; n < 12; n += 1) await receive(number, `+1415555${1300 + n}`, 'Hello');
    await row(page, /1311/).waitFor();
    assert.ok(await isInView());
    await page.getByRole('textbox', { name: 'Reply' }).fill('Yes.');
    await page.keyboard.press('Enter');
    await row(page, /1204.*You: Yes\..*Done/).waitFor();
    assert.ok(await isInView());
    assert.match(await above(), new RegExp(before.slice(0, 12).replace('+', '\\+')));
  });

  it('a phone shows a row for each conversation, and the thread has a button with a name', async () => {
    const contact = '+14155551205';
    const page = await open(olivia, `/conversations/${number.phoneNumber}/${encodeURIComponent(contact)}`, {
      look: phone,
    });
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByRole('button', { name: 'Waiting again' }).waitFor();
    await assertSound(page, 'inbox-done-phone');
  });
});
