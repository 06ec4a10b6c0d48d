import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { keepPicture, type Look } from './browser.ts';
import { isDark, keyboardStops, seriousAxeFindings, sidewaysOverflow } from './page-checks.ts';

interface Seen {
  readonly look: Look;
  readonly complaints: readonly string[];
  /** File name of the screenshot. */
  readonly picture: string;
  readonly texts: readonly RegExp[];
  /** Names of the elements that Tab reaches, in order, or parts of their names. */
  readonly stops: readonly (string | RegExp)[];
}

/** Checks texts, looks, keyboard and accessibility of a page in one of its states. */
export async function assertSoundPage(
  page: Page,
  { look, complaints, picture, texts, stops }: Seen,
): Promise<void> {
  await keepPicture(page, picture);
  const shown = await page.innerText('body');
  for (const text of texts) assert.match(shown, text);
  assert.deepEqual(await sidewaysOverflow(page), []);
  assert.equal(await isDark(page), look.colorScheme === 'dark');
  assert.deepEqual(await seriousAxeFindings(page), []);
  const met = await keyboardStops(page);
  assert.equal(met.length, stops.length, JSON.stringify(met));
  for (const [index, stop] of stops.entries()) {
    const name = met[index]?.name ?? '';
    assert.ok(typeof stop === 'string' ? name === stop : stop.test(name), `${name}, not ${stop}`);
  }
  assert.ok(met.every(({ isSeen }) => isSeen));
  assert.deepEqual(complaints, []);
}
