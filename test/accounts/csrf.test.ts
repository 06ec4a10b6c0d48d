import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Route } from '#server/http/route.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { type Browser, signedIn } from '#test/support/browser/browser-client.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { newMember } from '#test/support/people/people.ts';
import { countSignInRows } from '#test/support/people/stored-accounts.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const email = 'ada@example.com';
const password = 'a sentence that nobody guesses';

/** Combinations of request headers that the CSRF guard refuses, one of each kind first. */
const foreign: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
  ['nothing at all', { 'sec-fetch-site': undefined }],
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
  ['another origin', { 'sec-fetch-site': undefined, origin: 'https://example.net' }],
  ['another site that names our origin', { 'sec-fetch-site': 'cross-site', origin: 'OWN' }],
  ['no page', { 'sec-fetch-site': 'none' }],
  ['an empty word', { 'sec-fetch-site': '' }],
  ['two values', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ['an origin that begins like ours', { 'sec-fetch-site': undefined, origin: 'OWN.example.net' }],
  ['another port', { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' }],
  ['an origin that is hidden', { 'sec-fetch-site': undefined, origin: 'null' }],
  ['only a referrer', { 'sec-fetch-site': undefined, referer: 'OWN/' }],
];

describe('forged requests (specification section 12.3)', () => {
  let browser: Browser;
  const { service, team } = givenTeam();

  before(async () => {
    await newMember(service, team, 'owner', { email, password });
    browser = await signedIn(service, email, password);
  });

  const unsafe = (audiences: readonly Route['audience'][]) =>
    service.app.routes.filter(
      ({ audience, method, admission }) =>
        audiences.includes(audience) && method !== 'GET' && !admission?.ownToken,
    );
  const own = () => new URL(service.runtime.config.appUrl).origin;
  const named = (headers: Readonly<Record<string, string | undefined>>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.replace('OWN', own())]));
  const pathOf = ({ path }: Route) => path.replace(':team_id', team.publicId).replace(/:\w+/g, 'x');
  /** The database rows that a forged request could change. */
  const state = async () => ({
    counts: await countSignInRows(service),
    audited: (await storedAuditEntries(service)).filter(({ outcome }) => outcome === 'done'),
    rows: await storedRowTexts(service, 'accounts', 'teams', 'numbers'),
  });

  it('the CSRF tests cover every route for people that changes something', () => {
    const audiences = new Set(service.app.routes.map(({ audience }) => audience));
    const known = ['api', 'device', 'operations', 'team', 'account', 'visitor', 'page'];
    assert.deepEqual([...audiences].sort(), known.sort());
    assert.ok(unsafe(['account', 'visitor', 'page', 'team']).length >= 25);
  });

  it('every state-changing route refuses a request without an Origin of this server, and changes nothing (§12.3/csrf-and-checks)', async () => {
    const before = await state();
    const seen = new Set<string>();
    for (const route of unsafe(['account', 'visitor', 'page', 'team'])) {
      // The first route of each audience is tried with all combinations, and every other route with one of each kind.
      const tried = seen.has(route.audience) ? foreign.slice(0, 4) : foreign;
      seen.add(route.audience);
      for (const [what, headers] of tried) {
        const answer = await browser.request(route.method, pathOf(route), {
          body: {},
          headers: named(headers),
        });
        assert.equal(answer.status, 403, `${route.method} ${route.path}, ${what}: ${answer.text}`);
        assert.ok(answer.text.includes(`must come from a page of ${own()}`), what);
      }
    }
    assert.deepEqual(await state(), before);
  });

  it('every state-changing route accepts a request whose Origin or sec-fetch-site shows that this server’s page sent it', async () => {
    const routes = unsafe(['account', 'visitor', 'page', 'team']).filter(
      ({ path }) => !path.includes('sign-out'),
    );
    for (const route of routes) {
      for (const headers of [{}, { 'sec-fetch-site': undefined, origin: own() }]) {
        const answer = await browser.request(route.method, pathOf(route), { body: {}, headers });
        assert.notEqual(answer.status, 403, `${route.method} ${route.path}: ${answer.text}`);
      }
    }
  });

  it('a browser without sec-fetch-site on plain http is accepted if Origin is the address that it opened', async () => {
    const opened = own().replace('127.0.0.1', 'localhost');
    const there = browser.at(opened);
    const ask = (origin: string) =>
      there.request('PUT', '/app/account', { body: {}, headers: { 'sec-fetch-site': undefined, origin } });
    assert.equal((await ask(opened)).status, 200);
    for (const origin of [
      'http://localhost',
      opened.replace('http', 'https'),
      'http://example.net',
      'null',
    ]) {
      assert.equal((await ask(origin)).status, 403, origin);
    }
  });

  it('media links need only the token in their address', async () => {
    const ownToken = service.app.routes
      .filter(({ audience, admission }) => audience === 'page' && admission?.ownToken)
      .map(({ path }) => path);
    assert.deepEqual(ownToken, ['/media/:id/:token/:name']);
  });

  it('a form that another site posts is refused with an HTML page', async () => {
    const answer = await browser.request('POST', '/sign-in', {
      form: { email, password, by: 'password' },
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://example.net', accept: 'text/html' },
    });
    assert.equal(answer.status, 403);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(answer.text, /role="alert"[^>]*>This request must come from a page of/);
  });

  it('a GET that comes from another site is answered, so that links on other sites open pages of this server', async () => {
    for (const path of ['/', '/sign-in', '/app/account']) {
      const answer = await browser.request('GET', path, { headers: { 'sec-fetch-site': 'cross-site' } });
      assert.ok(answer.status < 400, `${path}: ${answer.status}`);
    }
  });
});
