import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser, newAccount, signedIn } from '#test/support/browser/browser-client.ts';
import { newMagicLink } from '#test/support/people/given-links.ts';
import { join, Person } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';

const password = 'a sentence that nobody guesses';
const another = 'another sentence of some length';

describe('the account of a person (specification sections 12.1 and 12.3)', () => {
  const service = givenService();
  let made = 0;

  const newPerson = async (withPassword = true) => {
    made += 1;
    const email = `person-${made}@example.com`;
    const account = await newAccount(service, withPassword ? { email, password } : { email });
    const byLink = async () => {
      const url = await newMagicLink(service, account);
      const browser = new Browser(service.baseUrl);
      assert.equal((await browser.submit(new URL(url).pathname)).status, 303);
      return browser;
    };
    return { email, account, byLink, byPassword: () => signedIn(service, email, password) };
  };
  const enter = (email: string, written: string) => new Browser(service.baseUrl).signIn(email, written);

  it('GET /app/account shows the signed-in account and its teams, in the order it joined them', async () => {
    const { account, byPassword } = await newPerson();
    const browser = await byPassword();
    const person = new Person(service.baseUrl, account, browser.cookie);
    const expected: unknown[] = [];
    for (const role of ['viewer', 'owner'] as const) {
      const team = await service.newTeam();
      await join(service, team, person, role);
      expected.push([team.publicId, 'Example team', role]);
    }
    const { json } = await browser.get('/app/account');
    assert.equal(field(json, 'account.name'), 'Ada Example');
    const teams = json.teams as { id: string; name: string; role: string; member_id: string }[];
    assertEach(teams, ({ id, name, role }) => [id, name, role], expected);
    assert.ok(teams.every(({ member_id }) => /^usr_/.test(member_id)));
    const nobody = await new Browser(service.baseUrl).get('/');
    assert.deepEqual([nobody.status, nobody.headers.get('location')], [303, '/sign-in']);
  });

  it('an account’s name has 1 to 100 characters, and a missing or equal name writes no audit entry', async () => {
    const { byPassword } = await newPerson();
    const browser = await byPassword();
    for (const name of ['', ' ', 'x'.repeat(101)]) {
      const answer = await browser.put('/app/account', { name });
      assert.equal(answer.status, 400, name);
      assert.equal(field(answer.json, 'error.param'), 'name');
    }
    for (const [body, name] of [
      [{ name: ' Grace 😀 ' }, 'Grace 😀'],
      [{ name: 'Grace 😀' }, 'Grace 😀'],
      [{}, 'Grace 😀'],
    ] as const) {
      assert.equal(field((await browser.put('/app/account', body)).json, 'account.name'), name);
    }
    const { json } = await browser.get('/app/account/audit');
    const entries = json.entries as { action: string; details: unknown; outcome: string }[];
    const renamed = entries.filter(
      ({ action, outcome }) => action === 'account.renamed' && outcome === 'done',
    );
    assertEach(renamed, ({ details }) => details, [{ name: 'Grace 😀' }]);
  });

  it('setting a new password requires the current one and ends all other sessions (§12.2/reauthentication)', async () => {
    const { email, byPassword } = await newPerson();
    const [browser, elsewhere] = [await byPassword(), await byPassword()];
    for (const body of [{ password: another }, { password: another, current_password: 'not this one' }]) {
      const answer = await browser.put('/app/account/password', body);
      assert.partialDeepStrictEqual(answer, { status: 400, json: { error: { param: 'current_password' } } });
      assert.match(answer.text, /sign in with a link from the operator of this server/);
    }
    assert.equal((await enter(email, password)).status, 303, 'nothing was changed');
    const answer = await browser.put('/app/account/password', {
      password: another,
      current_password: password,
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await browser.get('/app/account')).status, 200);
    assert.equal((await elsewhere.get('/app/account')).status, 401);
    assert.equal((await enter(email, password)).status, 401);
    assert.equal((await enter(email, another)).status, 303);
  });

  it('a first password requires a sign-in of the last 15 minutes', async () => {
    const { email, byLink } = await newPerson(false);
    const old = await byLink();
    service.clock.advance(15 * 60_000);
    const refused = await old.put('/app/account/password', { password: another });
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /Sign in again/);
    const browser = await byLink();
    const answer = await browser.put('/app/account/password', { password: another });
    assert.equal(field(answer.json, 'account.has_password'), true, answer.text);
    assert.equal((await enter(email, another)).status, 303);
  });

  it('a session that a magic link began within 15 minutes sets a password without the current one (§12.2/reauthentication)', async () => {
    const { email, byLink } = await newPerson();
    const [fresh, old] = [await byLink(), await byLink()];
    service.clock.advance(14 * 60_000);
    assert.equal((await fresh.put('/app/account/password', { password: another })).status, 200);
    assert.equal((await enter(email, another)).status, 303);
    assert.equal((await old.get('/app/account')).status, 401, 'its session was ended');
    const later = await byLink();
    service.clock.advance(15 * 60_000);
    const refused = await later.put('/app/account/password', { password });
    assert.partialDeepStrictEqual(refused, { status: 400, json: { error: { param: 'current_password' } } });
  });

  it('signing out everywhere and setting a password end open magic links (§12.2/reauthentication)', async () => {
    const { account, email, byPassword } = await newPerson();
    const newLink = async () => {
      const url = await newMagicLink(service, account, 24);
      return new URL(url).pathname;
    };
    const [before, browser] = [await newLink(), await byPassword()];
    assert.equal((await browser.post('/app/account/sign-out-everywhere')).status, 200);
    assert.equal((await new Browser(service.baseUrl).submit(before)).status, 404);
    const [again, present] = [await newLink(), await signedIn(service, email, password)];
    const body = { password: another, current_password: password };
    assert.equal((await present.put('/app/account/password', body)).status, 200);
    assert.equal((await new Browser(service.baseUrl).submit(again)).status, 404);
  });

  it('if two requests set a new password at the same time, only one succeeds', async () => {
    const { email, byPassword } = await newPerson();
    const browsers = [await byPassword(), await byPassword()];
    const words = ['the first of two sentences', 'the second of two sentences'];
    const answers = await Promise.all(
      browsers.map((browser, n) =>
        browser.put('/app/account/password', { password: words[n], current_password: password }),
      ),
    );
    const [won] = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    assert.deepEqual(answers.filter(({ status }) => status === 200).length, 1);
    assert.ok(answers.every(({ status }) => [200, 401, 409].includes(status)));
    for (const n of [0, 1]) {
      assert.equal((await enter(email, words[n] ?? '')).status, n === won ? 303 : 401);
      assert.equal((await browsers[n]?.get('/app/account'))?.status, n === won ? 200 : 401);
    }
  });

  it('the audit log of an account has every entry about it, with actor, action, address and request id (section 12.6)', async () => {
    const { account, email, byLink, byPassword } = await newPerson();
    const browser = await byPassword();
    await browser.put('/app/account', { name: 'Grace' });
    await browser.put('/app/account/password', { password: another, current_password: password });
    const linked = await byLink();
    const out = await linked.post('/app/account/sign-out');
    const { json } = await browser.get('/app/account/audit');
    const entries = json.entries as Record<string, unknown>[];
    assertEach(entries, ({ action }) => action, [
      'account.signed_out',
      'account.signed_in',
      'account.link_made',
      'account.password_set',
      'account.renamed',
      'account.signed_in',
      'account.made',
    ]);
    const [last = {}, , link = {}] = entries;
    assert.equal(field(last, 'actor.kind'), 'account');
    assert.equal(field(last, 'actor.name'), email);
    assert.equal(last.request_id, out.headers.get('request-id'));
    assert.partialDeepStrictEqual(last, { ip: '127.0.0.1', outcome: 'done' });
    assert.equal(field(link, 'actor.kind'), 'operator');
    assert.ok(!JSON.stringify(entries).includes(another) && !JSON.stringify(entries).includes(password));
    assert.equal((await storedAuditEntries(service, { accountId: account.id })).length, entries.length);
  });

  it('pages of the audit log show every entry of the account once, and none of another account', async () => {
    const { byPassword } = await newPerson();
    const browser = await byPassword();
    for (let n = 0; n < 6; n += 1) await browser.put('/app/account', { name: `Name ${n}` });
    const whole = (await browser.get('/app/account/audit')).json;
    assert.deepEqual([(whole.entries as unknown[]).length, whole.has_more], [8, false]);
    const seen: unknown[] = [];
    let cursor = '';
    for (let more = true; more; ) {
      const { json } = await browser.get(`/app/account/audit?limit=3&cursor=${cursor}`);
      seen.push(...(json.entries as unknown[]));
      cursor = String(json.cursor);
      more = json.has_more === true;
      // New entries that are added between two pages must not move other entries to another page.
      await browser.put('/app/account', { name: `Later ${cursor}` });
    }
    assert.deepEqual(seen, whole.entries);
    const wrongCursors = ['cursor=x', 'cursor=msg_01h2xcejqtf2nbrexx3vqjhp41'];
    for (const query of ['limit=0', 'limit=101', 'limit=x', ...wrongCursors, 'x=1']) {
      const answer = await browser.get(`/app/account/audit?${query}`);
      assert.equal(answer.status, 400, query);
      assert.equal(field(answer.json, 'error.param'), query.split('=')[0]);
    }
    const beyond = await browser.get('/app/account/audit?cursor=aud_00000000000000000000000000');
    assert.deepEqual(beyond.json, { entries: [], cursor: '', has_more: false });
  });

  it('account requests with unknown fields or unstorable characters are refused with the name of the field', async () => {
    const { byPassword } = await newPerson();
    const browser = await byPassword();
    for (const [method, path, body, param] of [
      ['PUT', '/app/account', { name: 'x', email: 'x@example.com' }, 'email'],
      ['PUT', '/app/account', { name: 'a\u0000b' }, 'name'],
      ['PUT', '/app/account/password', {}, 'password'],
      ['POST', '/app/account/sign-out', { everywhere: true }, 'everywhere'],
      ['POST', '/app/account/passkeys', { name: 'x' }, 'response'],
      ['POST', '/app/account/passkeys', { name: 'x', response: {} }, undefined],
      ['POST', '/app/sign-in/passkey', { response: 'x' }, 'response'],
    ] as const) {
      const answer = await browser.request(method, path, { body });
      assert.equal(answer.status, 400, `${path} ${answer.text}`);
      if (param !== undefined) assert.equal(field(answer.json, 'error.param'), param);
    }
    assert.equal((await browser.get('/app/account')).status, 200);
  });
});
