import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam, refusals } from '#test/support/browser/pages.ts';
import { receive } from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const ada = '+14155550142';
const adaMail = 'ada@example.com';

describe('contacts in a browser (specification section 4.8)', () => {
  const { service, team, open } = givenBrowserTeam();
  const member = given(() => newMember(service, team, 'member'));
  const number = given(() => connectNumber(service, team));

  const dialogOf = (page: Page) => page.getByRole('dialog');
  const create = async (name: string, ...handles: string[]) => {
    const answer = await team.api.post('/v1/contacts', { name, handles });
    assert.equal(answer.status, 201, answer.text);
  };
  const deleteAll = async () => {
    const { json } = await team.api.get('/v1/contacts');
    for (const { id } of json.contacts as { id: string }[]) await team.api.delete(`/v1/contacts/${id}`);
  };

  it('a name that is typed in a conversation shows in the list, and on a colleague’s page without a reload', async () => {
    await receive(number, ada, 'Are you open on Sunday?');
    const colleague = await newMember(service, team, 'member');
    const other = await open(colleague, '/conversations');
    await other.getByRole('link', { name: /0142/ }).waitFor();
    const page = await open(member, `/conversations/${number.phoneNumber}/${ada}`);
    await page.getByRole('button', { name: 'Add name' }).click();
    await dialogOf(page).getByLabel('Name').waitFor();
    await assertSound(page, 'dashboard-conversations-add-name');
    await page.keyboard.type('Ada Müller');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada Müller' }).waitFor();
    await page.getByRole('link', { name: /Ada Müller/ }).waitFor();
    await other.getByRole('link', { name: /Ada Müller/ }).click();
    await other.getByRole('heading', { name: 'Ada Müller' }).waitFor();
    await page.getByRole('main').getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit contact' }).click();
    const dialog = dialogOf(page);
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Ada Müller');
    await dialog.getByLabel('Another phone number or e-mail address').fill(adaMail);
    await dialog.getByRole('button', { name: 'Add this number or address' }).click();
    await dialog.getByRole('button', { name: `Remove ${adaMail}` }).waitFor();
    await assertSound(page, 'dashboard-conversations-edit-contact');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await other.getByText('Also writes from').waitFor();
    await assertSound(other, 'dashboard-conversations-named');
    await other.getByRole('link', { name: adaMail }).click();
    await other.getByText(`${adaMail} · via`).waitFor();
  });

  it('another number of a person is added to the contact, from the conversation', async () => {
    await deleteAll();
    const other = '+14155550143';
    await create('Ada Example', ada);
    await receive(number, other, 'It is me, from my work phone.');
    const page = await open(member, `/conversations/${number.phoneNumber}/${other}`);
    await page.getByRole('button', { name: 'Add name' }).click();
    await dialogOf(page).getByLabel('Name').fill('ada');
    await dialogOf(page).getByRole('button', { name: 'Add to Ada Example' }).click();
    await dialogOf(page).getByRole('button', { name: 'Remove +1 415 555 0142' }).waitFor();
    await dialogOf(page).getByRole('button', { name: 'Remove +1 415 555 0143' }).waitFor();
    await assertSound(page, 'dashboard-conversations-add-to');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Ada Example' }).waitFor();
    await page.getByText('Also writes from').waitFor();
  });

  it('an admin erases a person with all numbers and addresses (§12.14/erased-contact)', async () => {
    await deleteAll();
    const admin = await newMember(service, team, 'admin');
    await create('Grace Example', '+14155550144', 'grace@example.com');
    await receive(number, '+14155550144', 'A secret');
    const page = await open(admin, `/conversations/${number.phoneNumber}/+14155550144`);
    await page.getByRole('main').getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Erase this contact' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Erase all of Grace Example').check();
    await dialog.getByText('Goes for good:').waitFor();
    await dialog.getByRole('textbox').fill('+1 415 555 0144');
    await assertSound(page, 'dashboard-erase-person');
    await dialog.getByRole('button', { name: 'Erase contact' }).click();
    await page.getByText(/^The contact is (erased|being erased)$/).waitFor();
    await until('the contact is gone', async () => {
      const { json } = await team.api.get('/v1/contacts');
      return (json.contacts as unknown[]).length === 0;
    });
  });

  it('a number that another contact has leads to that contact', async () => {
    await deleteAll();
    await create('Ada Example', ada);
    const page = await open(member, '/contacts', { provokes: refusals });
    await page.getByRole('button', { name: 'Add contact' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name').fill('Grace Example');
    await dialog.getByLabel('Phone number or e-mail address').fill('(415) 555-0142');
    await page.keyboard.press('Enter');
    await dialog.getByText('+1 415 555 0142 belongs to Ada Example.').waitFor();
    await assertSound(page, 'dashboard-contacts-held');
    await dialog.getByRole('button', { name: 'Open Ada Example' }).click();
    await dialog.getByRole('heading', { name: 'Edit contact' }).waitFor();
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Ada Example');
    await dialog.getByLabel('Note').fill('Prefers mornings.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Prefers mornings.').waitFor();
    await page.getByRole('button', { name: 'Delete Ada Example' }).click();
    await assertSound(page, 'dashboard-contacts-delete');
    await dialogOf(page).getByRole('button', { name: 'Delete contact' }).click();
    await page.getByText('No contacts yet').waitFor();
  });

  for (const [kind, name, text] of [
    [
      'a CSV file',
      'contacts.csv',
      'Name,Phone,E-mail\nJürgen Müller,(415) 555-0151,juergen@example.com\nAda Example,+1 415 555 0142,\nNo Number,,\n',
    ],
    [
      'vCards',
      'contacts.vcf',
      [
        ['FN:Jürgen Müller', 'TEL:+1 415 555 0151', 'EMAIL:juergen@example.com'],
        ['FN:Ada Example', 'TEL:+1 415 555 0142'],
        ['FN:No Number'],
      ]
        .map((lines) => ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n'))
        .join(''),
    ],
  ] as const) {
    it(`an import of ${kind} first shows what will change`, async () => {
      await deleteAll();
      await create('Ada', ada);
      const page = await open(member, '/contacts', { look: phone });
      await page.getByRole('button', { name: 'Import' }).click();
      const dialog = dialogOf(page);
      await dialog.getByRole('button', { name: 'Choose a file' }).waitFor();
      await assertSound(page, 'dashboard-contacts-import');
      await dialog
        .getByLabel('File of contacts')
        .last()
        .setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) });
      await dialog.getByText('1 person will be added, 1 will be changed, and 1 will be left out.').waitFor();
      await dialog.getByText('Jürgen Müller').waitFor();
      await assertSound(page, `dashboard-contacts-preview-${name.slice(-3)}`);
      assert.equal(await page.getByRole('row', { name: /Jürgen/ }).count(), 0);
      await dialog.getByRole('button', { name: 'Import' }).click();
      await dialog.getByText('1 person was added, 1 was changed, and 1 was left out.').waitFor();
      await assertSound(page, 'dashboard-contacts-imported');
      await dialog.getByRole('button', { name: 'Done' }).click();
      for (const shown of ['Jürgen Müller', 'Ada Example'])
        await page.getByRole('row', { name: new RegExp(shown) }).waitFor();
      await page.getByRole('textbox', { name: 'Search names and last digits' }).fill('mull');
      await page.getByRole('row', { name: /Ada Example/ }).waitFor({ state: 'hidden' });
      assert.equal(await page.getByRole('row', { name: /Jürgen/ }).count(), 1);
      await assertSound(page, 'dashboard-contacts-found');
      await page.keyboard.press('Escape');
      await page.getByRole('row', { name: /Ada Example/ }).waitFor();
    });
  }

  it('a new message goes to a name, or to a number as its country writes it', async () => {
    await deleteAll();
    await create('Ada Example', ada, adaMail);
    const page = await open(member, '/conversations');
    const begin = async (to: string) => {
      await page.getByRole('button', { name: 'New message' }).click();
      await dialogOf(page).getByLabel('To').fill(to);
    };
    await begin('exa');
    await dialogOf(page)
      .getByRole('button', { name: /Ada Example/ })
      .waitFor();
    await assertSound(page, 'dashboard-new-message');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ada Example' }).waitFor();
    await begin('(415) 555-0177');
    await dialogOf(page).getByText('+1 415 555 0177').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '+1 415 555 0177' }).waitFor();
    await begin('Nobody');
    await page.keyboard.press('Enter');
    await dialogOf(page)
      .getByText('No contact with a phone number has this name.')
      .waitFor({ timeout: 4000 })
      .catch(() => undefined);
    await page.screenshot({ path: '/tmp/people-pics/debug.png' });
  });
});
