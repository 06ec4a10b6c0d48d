import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { newPage, startBrowser } from '#test/support/browser/browser.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

/**
 * Directives of the policy whose refusals the test reports. Refused style attributes are ignored, because they only
 * change the width of line numbers.
 */
const directives = ['style-src-elem', 'connect-src', 'img-src', 'font-src', 'script-src-elem', 'worker-src'];

describe('the reference in a browser (§9/openapi)', () => {
  // The browser opens the service at another address than BASE_URL, as on a machine behind a proxy.
  const service = givenService({ BASE_URL: 'https://texts.example.com' });
  const browser = given(startBrowser);
  const page = given(() => newPage(browser, { width: 1280, height: 800, colorScheme: 'light' }));
  const hashes: string[] = [];
  const asked: string[] = [];

  before(async () => {
    // If the policy refuses a style element, Chromium's console message has the hash that the policy lacks.
    page.on('console', (message) => {
      const hash = /a hash \('([^']+)'/.exec(message.text())?.[1];
      if (hash && !message.text().includes('unsafe-hashes')) hashes.push(hash);
    });
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()}`));
    await page.addInitScript(`globalThis.violations = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
        violations.push(effectiveDirective + ' ' + blockedURI));`);
    await page.goto(`${service.baseUrl}/docs`);
    await page.getByText('Send a message').first().waitFor();
  });

  /** The relevant refusals by the policy so far, with the hashes of style elements. */
  const violations = async (): Promise<readonly string[]> => {
    const found = (await page.evaluate('globalThis.violations')) as readonly string[];
    const serious = found.filter((text) => directives.some((directive) => text.startsWith(`${directive} `)));
    return serious.length === 0 ? [] : [...serious, ...hashes];
  };

  it('the content security policy of the API reference has the hash of each style element of the page', async () => {
    await until('it is styled', async () =>
      page.evaluate(`[...document.styleSheets].some(({ cssRules }) => cssRules.length > 1_000)`),
    );
    assert.deepEqual(await violations(), []);
  });

  it('the API reference sends a test request to its own address, and shows the answer', async () => {
    await page.getByText('Send a message', { exact: true }).first().click();
    await page
      .locator('button:visible', { hasText: /Test Request.*\/v1\/messages\/send/ })
      .first()
      .click();
    const send = page.locator('[role=dialog] button:visible', { hasText: /^\s*Send/ }).first();
    await send.waitFor();
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/messages/send'));
    await send.click();
    const answer = await answered;
    assert.equal(answer.url(), `${service.baseUrl}/v1/messages/send`);
    assert.equal(answer.status(), 401);
    await page.getByText('Send your API key in the header x-api-key').first().waitFor();
    assert.deepEqual(await violations(), []);
    assert.deepEqual(
      asked.filter((request) => !request.split(' ')[1]?.startsWith(service.baseUrl)),
      [],
    );
  });

  it('the API key field of the API reference has a placeholder that is no valid key (§9/openapi)', async () => {
    await page.goto(`${service.baseUrl}/docs`);
    await page.getByText('Send a message').first().waitFor();
    await page.getByPlaceholder('own_live_your_key').first().waitFor();
    assert.doesNotMatch(await page.content(), /QUxMIFlPVV/);
  });

  it('the API reference presets no filter of a list', async () => {
    await page.goto(`${service.baseUrl}/docs#tag/messages/GET/v1/messages`);
    const sample = page.getByText(/curl .*\/v1\/messages\?/).first();
    await sample.waitFor();
    assert.match((await sample.innerText()).replaceAll(/\s+/g, ' '), /\/v1\/messages\?limit=50'/);
  });
});
