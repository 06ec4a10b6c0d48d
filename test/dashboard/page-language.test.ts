import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pageLanguage } from '#server/dashboard/web/page-language.ts';

it('a page is in the language of the cookie, else in the first known language of the browser, else in English (§12.3/languages)', () => {
  for (const [cookie, accepted, language] of [
    [undefined, undefined, 'en'],
    [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
    [undefined, 'fr-FR, ES-mx;q=0.9, en;q=0.8', 'es'],
    [undefined, 'fr,*;q=0.1', 'en'],
    ['ownline=x; ownline-language=es', 'de', 'es'],
    ['ownline-language=de', 'en', 'de'],
    ['ownline-language=constructor', 'de', 'de'],
    ['not-ownline-language=es', 'de', 'de'],
  ] as const)
    assert.equal(pageLanguage({ cookie, 'accept-language': accepted }), language, `${cookie} ${accepted}`);
});
