import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Language, languageCookie } from '#contract/language.ts';
import { desktop, newPage } from '#test/support/browser/browser.ts';
import { measureFirstLoad } from '#test/support/browser/first-load.ts';
import { type FullTeam, givenFullTeam } from '#test/support/browser/full-team.ts';
import { assertSound, givenBrowserTeam, refusals } from '#test/support/browser/pages.ts';
import { newMember } from '#test/support/people/people.ts';

/** Pages of the front desk, with a text of each in German and in Spanish. */
const pages = (team: FullTeam): readonly (readonly [path: string, de: string, es: string])[] => [
  ['', 'Letzte Chats', 'Últimos chats'],
  ['/conversations', 'Wählen Sie einen Chat', 'Elija un chat'],
  [
    `/conversations/${encodeURIComponent(team.values.phoneNumber ?? '')}/${encodeURIComponent(team.values.contact ?? '')}`,
    'Noch einmal senden',
    'Enviar de nuevo',
  ],
  ['/contacts', 'Kontakt hinzufügen', 'Añadir contacto'],
  ['/messages', 'Alles, was gesendet', 'Todo lo enviado'],
  [`/messages?message=${team.messageId}`, 'Verlauf', 'Cronología'],
  ['/numbers', 'iPhone verbinden', 'Conectar un iPhone'],
  [`/numbers/${team.values.id}`, 'Pausen und Grenzen', 'Ritmo de envío'],
  ['/settings', 'Darstellung', 'Apariencia'],
];

describe('the dashboard in German and Spanish (§12.3/languages)', () => {
  const { service, browser, open } = givenBrowserTeam();
  let full: FullTeam;
  before(async () => {
    full = await givenFullTeam(service);
  });
  const speak = (page: Page, value: Language) =>
    page.context().addCookies([{ name: languageCookie, value, url: service.baseUrl }]);

  for (const [index, language] of (['de', 'es'] as const).entries()) {
    it(`each page of the front desk is in the language ${language} and passes the page checks`, async () => {
      const page = await open(full.owner, '/settings', { provokes: refusals });
      await speak(page, language);
      const faults: string[] = [];
      for (const [path, ...texts] of pages(full)) {
        await page.goto(`${service.baseUrl}/teams/${full.owner.team.publicId}${path}`);
        const shown = page.getByText(texts[index] ?? '').filter({ visible: true });
        const check = async () => {
          await shown.first().waitFor();
          await assertSound(page, `${language}${path.split(/[?+%]/)[0]?.replaceAll('/', '-')}`);
        };
        await check().catch((error: Error) => faults.push(`${path}: ${error.message}`));
      }
      assert.deepEqual(faults, []);
    });
  }

  it('in each language the first load of Home and Conversations takes at most 250 KB', async () => {
    const newest = await newMember(service, await service.newTeam(), 'owner');
    for (const [language, path, shown] of [
      ['de', '', 'Erste Schritte'],
      ['de', '/conversations', 'Nichts wartet'],
      ['es', '', 'Primeros pasos'],
      ['es', '/conversations', 'Nada en espera'],
    ] as const) {
      const page = await newPage(browser, desktop);
      const [name = '', value = ''] = newest.cookie.split('=');
      await page.context().addCookies([{ name, value, url: service.baseUrl }]);
      await speak(page, language);
      const address = `${service.baseUrl}/teams/${newest.team.publicId}${path}`;
      const { bytes } = await measureFirstLoad(page, address, shown);
      assert.ok(bytes > 50_000 && bytes <= 250 * 1_024, `${language} ${path}: ${bytes} bytes`);
      await page.context().close();
    }
  });
});
