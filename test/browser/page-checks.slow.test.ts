import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Listener, listen } from '#test/referees/http-message.ts';
import { newPage, startBrowser } from '#test/support/browser/browser.ts';
import {
  complaintsAbout,
  isDark,
  keyboardStops,
  seriousAxeFindings,
  sidewaysOverflow,
} from '#test/support/browser/page-checks.ts';
import { until } from '#test/support/service/until.ts';

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src *",
};

const badPage = (elsewhere: string) => `<!doctype html><html lang="en"><title>Bad</title><style>
body { background: #111; color: #eee } .wide { width: 2000px } .pale { color: #222 } a { color: #9cf } button { outline: none }</style>
<script>document.body.remove()</script><img src="${elsewhere}" alt="">
<p class="pale">Too pale</p><p class="wide">Too wide</p><button>Unseen</button> <a href="/">Seen</a></html>`;

describe('the checks of pages find faults', () => {
  let server: Listener;
  let elsewhere: Listener;
  let browser: Browser;
  let page: Page;
  let complaints: readonly string[];

  before(async () => {
    elsewhere = await listen(async () => ({ status: 404, headers: {}, body: Buffer.of() }));
    const body = Buffer.from(badPage(`${elsewhere.url}/picture.png`));
    server = await listen(async () => ({ status: 200, headers, body }));
    browser = await startBrowser();
    page = await newPage(browser, { width: 390, height: 844, colorScheme: 'light' });
    complaints = complaintsAbout(page, server.url);
    await page.goto(server.url);
  });
  after(async () => {
    await browser?.close();
    await server.close();
    await elsewhere.close();
  });

  it('complaintsAbout finds a script against the policy, a file of another host, and a missing file', async () => {
    await until('the complaints', () => complaints.length >= 3);
    assert.equal(complaints.length, 3, complaints.join('\n'));
    assert.match(complaints.join('\n'), /from elsewhere: .*picture\.png/);
    assert.match(complaints.join('\n'), /inline script violates .*Content Security Policy/);
    assert.match(complaints.join('\n'), /console: Failed to load resource/);
  });

  it('sidewaysOverflow finds an element that is wider than the page', async () => {
    assert.deepEqual(await sidewaysOverflow(page), ['P Too wide']);
  });

  it('isDark finds a background that is darker than its text', async () => {
    assert.equal(await isDark(page), true);
  });

  it('seriousAxeFindings finds text with too little contrast', async () => {
    const findings = await seriousAxeFindings(page);
    assert.equal(findings.length, 1, findings.join('\n'));
    assert.match(findings.join('\n'), /color-contrast.*\.pale/);
  });

  it('seriousAxeFindings waits until an animation that runs once has ended', async () => {
    await page.evaluate("document.querySelector('a').animate({ opacity: [0.2, 0.2] }, 2000)");
    const findings = await seriousAxeFindings(page);
    assert.equal(findings.length, 1, findings.join('\n'));
    assert.match(findings.join('\n'), /color-contrast.*\.pale/);
  });

  it('keyboardStops finds an element whose focus is invisible', async () => {
    assert.deepEqual(await keyboardStops(page), [
      { name: 'Unseen', isSeen: false },
      { name: 'Seen', isSeen: true },
    ]);
  });
});
