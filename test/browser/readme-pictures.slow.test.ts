import { describe, it } from 'node:test';
import { desktop, keepPicture, phone } from '#test/support/browser/browser.ts';
import { givenPages } from '#test/support/browser/pages.ts';
import { givenDemo } from '#test/support/demo/given-demo.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const thread = '/conversations/%2B16285550150/%2B14155550142';

/** Draws the pictures of the README; `npm run pictures` copies them to docs/pictures/. */
describe('the dashboard of the demo team, as the README shows it', () => {
  const service = givenService();
  const demo = given(() => givenDemo(service));
  const { open } = givenPages();

  for (const [name, path, look, shown] of [
    ['home', '', desktop, 'I’ll come by at five'],
    ['conversations', thread, desktop, 'No problem, Jamie. Dr. Chen will wait for you.'],
    ['thread-phone', thread, phone, 'No problem, Jamie. Dr. Chen will wait for you.'],
  ] as const) {
    it(`the README’s picture ${name} is drawn without an error in the browser’s console`, async () => {
      const page = await open(demo.owner, path, { look });
      await page.getByText(shown).first().waitFor();
      // At the first load the page may show the system's font; at the second its own font is in the cache.
      await page.reload();
      await page.getByText(shown).first().waitFor();
      await page.evaluate('document.fonts.ready.then(() => undefined)');
      await keepPicture(page, `readme-${name}`, false);
    });
  }
});
