import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { CspEvaluator } from 'csp_evaluator/dist/evaluator.js';
import { Severity } from 'csp_evaluator/dist/finding.js';
import { CspParser } from 'csp_evaluator/dist/parser.js';
import { themeScript } from '#server/http/html.ts';
import { Browser, type BrowserAnswer, newAccount, signedIn } from '#test/support/browser/browser-client.ts';
import { newMagicLink } from '#test/support/people/given-links.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';

const email = 'ada@example.com';
const password = 'a sentence that nobody guesses';
/** This file takes 2 s to compress. test/http/api-reference.test.ts checks its headers. */
const staticScript = '/docs/js/scalar.js';

describe('security headers of pages and of answers below /app (specification section 12.3)', () => {
  const service = givenService({
    APP_URL: 'https://texts.example.com',
    DEVICE_URL: 'https://texts.example.com',
  });
  const answers: [string, BrowserAnswer][] = [];

  before(async () => {
    const account = await newAccount(service, { email, password });
    const link = await newMagicLink(service, account);
    const team = await service.newTeam();
    const verified = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const known: Readonly<Record<string, string>> = {
      '/link/:token': new URL(link).pathname,
      '/setup/:token': new URL(String(verified.json.setup_url)).pathname,
    };
    const browser = await signedIn(service, email, password);
    const visitor = new Browser(service.baseUrl);
    const routes = service.app.routes.filter(
      ({ audience, path }) => !['api', 'device', 'operations'].includes(audience) && path !== staticScript,
    );
    // Each route is requested once with valid input, and once without a session and with invalid tokens.
    for (const { method, path } of routes.filter(({ method }) => method === 'GET')) {
      answers.push([`${method} ${path}`, await browser.get(known[path] ?? path.replace(/:\w+/g, 'x'))]);
    }
    for (const { method, path } of routes) {
      answers.push([
        `${method} ${path}, refused`,
        await visitor.request(method, path.replace(/:\w+/g, 'x'), {
          headers: { accept: 'text/html', 'sec-fetch-site': 'cross-site' },
        }),
      ]);
      answers.push([`${method} ${path}, wrong`, await visitor.request(method, path.replace(/:\w+/g, 'x'))]);
    }
    answers.push(['no route', await visitor.get('/app/nothing')]);
    answers.push(['no method', await visitor.put('/sign-in', {})]);
    answers.push(['a broken address', await visitor.get('/app/%')]);
  });

  it('the answers that this test checks include every route, pages and refusals', () => {
    assert.ok(answers.length > 60, String(answers.length));
    const isPage = ([, { headers }]: [string, BrowserAnswer]) =>
      /^text\/html/.test(headers.get('content-type') ?? '');
    assert.ok(answers.filter(isPage).length > 12);
    const statuses = new Set(answers.map(([, { status }]) => status));
    for (const status of [200, 303, 400, 401, 403, 404, 405]) assert.ok(statuses.has(status), String(status));
  });

  it('the headers forbid type sniffing, frames and referrers to other sites, and require https (§12.3/browser-headers)', () => {
    for (const [what, { headers }] of answers) {
      assert.equal(headers.get('x-content-type-options'), 'nosniff', what);
      assert.equal(headers.get('referrer-policy'), 'same-origin', what);
      assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', what);
      assert.match(headers.get('content-security-policy') ?? '', /(^|; ?)frame-ancestors 'none'(;|$)/, what);
      assert.equal(headers.getSetCookie().length, what.startsWith('POST /sign-out, wrong') ? 1 : 0, what);
    }
  });

  it('csp_evaluator finds nothing of high or medium severity in any content security policy (§12.3/browser-headers)', () => {
    const judged = new Set<string>();
    for (const [what, { headers }] of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      if (judged.has(policy)) continue;
      judged.add(policy);
      const findings = new CspEvaluator(new CspParser(policy).csp).evaluate();
      const grave = findings.filter(({ severity }) => severity <= Severity.MEDIUM);
      assertEach(grave, ({ directive, description }) => `${what}: ${directive} ${description}`, []);
    }
    assert.ok(judged.size >= 3, `${judged.size} policies: pages, the reference, and what is no page`);
    const weak = new CspEvaluator(new CspParser("script-src 'unsafe-inline'").csp).evaluate();
    assert.ok(
      weak.some(({ severity }) => severity === Severity.HIGH),
      'it does find what is wrong',
    );
  });

  it('pages load only their font, and run only the scripts whose hashes are in the policy', () => {
    // A signed-in browser is redirected from GET /sign-in, so the page after a wrong password is used.
    const shown = (path: string) => `GET ${path}${path === '/sign-in' ? ', wrong' : ''}`;
    for (const path of ['/sign-in', '/link/:token']) {
      const [, { text, headers }] = answers.find(([what]) => what === shown(path)) ?? assert.fail(path);
      const scripts = [...text.matchAll(/<script>([^<]*)<\/script>/g)].map(([, script = '']) => script);
      const hasOwn = path === '/sign-in';
      assert.equal(scripts.length, hasOwn ? 2 : 1, path);
      assert.equal(scripts[0], themeScript, path);
      assert.deepEqual(text.match(/url\([^)]*\)/g), ['url("/fonts/inter-latin.woff2")'], path);
      assert.doesNotMatch(
        text.replaceAll(/<script>[^<]*<\/script>/g, ''),
        /<script|<iframe|<link(?! rel="icon" type="image\/svg\+xml" href="\/favicon\.ico">)|<img|style="|\son\w+=|https?:\/\/(?!texts\.example\.com)/i,
        path,
      );
      const hashes = scripts.map(
        (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      );
      assert.equal(
        headers.get('content-security-policy')?.replace(/style-src 'sha256-[\w+/=]+'/, 'style-src'),
        `default-src 'none'; style-src; font-src 'self'; img-src 'self'; script-src ${hashes.join(' ')};${hasOwn ? " connect-src 'self';" : ''} form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      );
      assert.match(text, /^<!doctype html>\n<html lang="en">/);
      for (const [, id] of text.matchAll(/<input id="(\w+)"/g))
        assert.ok(text.includes(`<label for="${id}"`), path);
    }
  });

  it('answers to programs and phones have no security headers', async () => {
    for (const path of ['/v1/team', '/healthz']) {
      const { headers } = await fetch(`${service.baseUrl}${path}`);
      assert.equal(headers.get('strict-transport-security'), null, path);
    }
  });

  it('pages on plain http have no strict-transport-security header', async (t) => {
    const plain = await startTestService();
    t.after(() => plain.close());
    const { headers } = await new Browser(plain.baseUrl).get('/sign-in');
    assert.equal(headers.get('strict-transport-security'), null);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  });

  it('behind a proxy that serves Ownline below a path, the links of pages stay below that path', async (t) => {
    const below = await startTestService({ APP_URL: 'https://example.com/texts/' });
    t.after(() => below.close());
    const browser = new Browser(below.baseUrl);
    assert.equal((await browser.get('/')).headers.get('location'), '/texts/sign-in');
    await newAccount(below, { email, password });
    const entered = await browser.submit('/sign-in', { email, password, by: 'password' });
    assert.equal(entered.headers.get('location'), '/texts/');
    assert.match((await browser.get('/sign-in')).text, /action="\/texts\/sign-out"/);
    assert.match((await browser.get('/')).text, /data-base="\/texts"[\s\S]*src="\/texts\/assets\/main-/);
    const account = await newAccount(below, { email: 'grace@example.com' });
    const link = await newMagicLink(below, account);
    assert.ok(link.startsWith('https://example.com/texts/link/'), link);
  });
});
