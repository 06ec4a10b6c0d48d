import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';

const ada = '+14155550142';
const bob = '+14155550137';

describe('the search of Conversations in a browser', () => {
  const { service, team, open } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'member'));
  const number = given(() => connectNumber(service, team));

  before(async () => {
    await team.api.post('/v1/contacts', { name: 'Ada Müller', handles: [ada] });
    await receive(number, ada, 'Could you send me the invoice again, please? I can’t find it anywhere.');
    for (let n = 1; n <= 60; n += 1) await receive(number, ada, `Text ${n}.`);
    await receive(number, bob, 'Thank you, see you on Friday.');
  });

  const search = (page: Page, text: string) =>
    page.getByRole('textbox', { name: 'Search names, last digits, texts' }).fill(text);
  const list = (page: Page) => page.getByRole('region', { name: 'Conversations', exact: true });

  it('a text, the last digits and a name are found as a person types, and the address keeps the search', async () => {
    const page = await open(member, '/conversations');
    await search(page, 'in');
    await page.getByText('Type 3 characters or more.').waitFor();
    await search(page, 'inv');
    await list(page)
      .getByRole('link', { name: /Ada Müller.*the invoice again/s })
      .waitFor();
    assert.equal(await list(page).locator('mark').innerText(), 'inv');
    await assertSound(page, 'dashboard-search-text');
    await search(page, '0137');
    await list(page)
      .getByRole('link', { name: /0137.*Thank you/s })
      .first()
      .waitFor();
    await assertSound(page, 'dashboard-search-digits');
    await search(page, 'mull');
    await list(page)
      .getByRole('link', { name: /Ada Müller/ })
      .first()
      .waitFor();
    await page.reload();
    await list(page)
      .getByRole('link', { name: /Ada Müller/ })
      .first()
      .waitFor();
    await search(page, 'xyzzy');
    await page.getByText('Nothing found', { exact: true }).waitFor();
    await assertSound(page, 'dashboard-search-nothing');
  });

  it('keys go from the field into the results and back, and Enter opens the conversation at the message', async () => {
    const page = await open(member, '/conversations?q=invoice');
    await list(page).locator('mark').waitFor();
    await page.getByRole('textbox', { name: /Search/ }).focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await page.locator(':focus').innerText(), /invoice/);
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.locator(':focus').getAttribute('type'), 'text');
    await page.keyboard.press('Enter');
    const found = page.getByRole('log').getByText(/^Could you send me the invoice/);
    await found.waitFor();
    const isInView = (element: { getBoundingClientRect: () => { top: number } }) =>
      element.getBoundingClientRect().top > 0;
    assert.ok(
      await found.evaluate(isInView),
      'the older messages are loaded, and the thread is at the message',
    );
    await assertSound(page, 'dashboard-search-opened');
    await page.getByRole('textbox', { name: /Search/ }).focus();
    await page.keyboard.press('Escape');
    await list(page).getByRole('link', { name: /0137/ }).waitFor();
    assert.ok(!new URL(page.url()).searchParams.has('q'));
  });

  it('on a phone, going back from a result leads to the results', async () => {
    const page = await open(member, '/conversations', { look: phone });
    await search(page, 'friday');
    await list(page).getByRole('link', { name: /0137/ }).click();
    await page.getByRole('log').getByText('see you on Friday').waitFor();
    await page.getByRole('link', { name: 'Back to the conversations' }).click();
    await list(page).locator('mark').waitFor();
    await assertSound(page, 'dashboard-search-back');
  });
});
