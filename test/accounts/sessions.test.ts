import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { publicId } from '#server/platform/ids.ts';
import { Browser, newAccount, signedIn } from '#test/support/browser/browser-client.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { httpRequest } from '#test/support/http/http-request.ts';
import { newMagicLink } from '#test/support/people/given-links.ts';
import { newMember } from '#test/support/people/people.ts';
import { countSignInRows, isSessionStored } from '#test/support/people/stored-accounts.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService } from '#test/support/service/test-service.ts';

const email = 'ada@example.com';
const password = 'a sentence that nobody guesses';
const dayMs = 86_400_000;

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly method: string;
  readonly user_agent: string;
}

describe('sessions (specification section 12.2)', () => {
  const service = givenService();

  before(() => newAccount(service, { email, password }));

  const enter = (userAgent = 'Browser') => signedIn(service, email, password, { 'user-agent': userAgent });
  const isSignedIn = async (browser: Browser) => (await browser.get('/app/account')).status === 200;
  const sessionsOf = async (browser: Browser) =>
    (await browser.get('/app/account/sessions')).json.sessions as Listed[];

  it('a sign-in leads to the start page, and sets session and device cookies that are HttpOnly and SameSite=Lax (§12.2/sessions)', async () => {
    const answer = await new Browser(service.baseUrl).signIn('ADA@example.com', password);
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/'], answer.text);
    const [cookie = '', known = '', ...rest] = answer.headers.getSetCookie();
    assert.deepEqual(rest, []);
    assert.match(cookie, /^ownline=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/);
    assert.match(known, /^ownline-known=[\w-]{100,}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/);
  });

  it('the session cookie on https is Secure, and bound to this host by its name (§12.2/sessions)', async (t) => {
    const https = await startTestService({ APP_URL: 'https://texts.example.com' });
    t.after(() => https.close());
    await newAccount(https, { email, password });
    const [cookie = '', known = '', ...rest] = (
      await new Browser(https.baseUrl).signIn(email, password)
    ).headers.getSetCookie();
    assert.deepEqual(rest, []);
    const flags = 'Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000';
    assert.match(known, new RegExp(`^__Host-ownline-known=[\\w-]+; ${flags}$`));
    assert.match(cookie, new RegExp(`^__Host-ownline=[\\w-]{43}; ${flags}$`));
    const browser = await signedIn(https, email, password);
    assert.equal(await isSignedIn(browser), true);
    const plain = new Browser(https.baseUrl, { cookie: browser.cookie.replace('__Host-', '') });
    assert.equal(await isSignedIn(plain), false, 'a cookie without the prefix is none');
    const out = await browser.post('/app/account/sign-out');
    assert.deepEqual(out.headers.getSetCookie(), [
      '__Host-ownline=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0',
    ]);
  });

  it('the database has only the hash of a session token (§12.2/sessions)', async () => {
    const browser = await enter();
    const token = browser.token;
    assert.equal(await isSessionStored(service, token), true);
    for (const table of ['account_sessions', 'audit_log', 'accounts', 'throttle_counters'] as const) {
      const rows = await storedRowTexts(service, table);
      assert.ok(
        rows.every((row) => !row.includes(token)),
        table,
      );
    }
  });

  it('each sign-in makes a new session token, whatever cookie the browser sent (§12.2/sessions)', async () => {
    const browser = await enter();
    const first = browser.token;
    await browser.signIn(email, password);
    assert.notEqual(browser.token, first);
    const cookie = `ownline=${'x'.repeat(43)}`;
    const planted = new Browser(service.baseUrl, { cookie });
    await planted.signIn(email, password);
    assert.ok(!planted.cookie.includes(cookie));
    const planter = new Browser(service.baseUrl, { cookie });
    assert.equal(await isSignedIn(planter), false, 'a planted cookie signs in no person, then or later');
    for (const alike of [`xownline=${first}`, `ownline=${first}x`, `ownline=x${first}`])
      assert.equal(await isSignedIn(new Browser(service.baseUrl, { cookie: alike })), false, alike);
  });

  it('signing in again ends only the session that the browser had, whatever its account (§12.2/sessions)', async () => {
    const grace = await newAccount(service, { email: 'former@example.com', password });
    const [first, elsewhere] = [await enter(), await enter()];
    const stolen = first.at(service.baseUrl);
    await first.signIn(email, 'wrong');
    assert.equal(await isSignedIn(stolen), true, 'a wrong password ends nothing');
    await first.signIn(email, password);
    assert.deepEqual([await isSignedIn(stolen), await isSignedIn(first)], [false, true]);
    const before = first.at(service.baseUrl);
    const url = await newMagicLink(service, grace);
    assert.equal((await first.submit(new URL(url).pathname)).status, 303);
    assert.deepEqual([await isSignedIn(before), await isSignedIn(elsewhere)], [false, true]);
    const { entries } = (await elsewhere.get('/app/account/audit')).json;
    const [latest] = entries as { action: string }[];
    assert.equal(latest?.action, 'account.signed_out', 'the account that it was of sees it');
    assert.ok(!JSON.stringify(latest).includes('former@example.com'), 'and not who came after');
  });

  it('a session lives for 30 days from its last use, and no longer (§12.2/sessions)', async () => {
    const [used, left] = [await enter('used'), await enter('left')];
    service.clock.advance(20 * dayMs);
    assert.equal(await isSignedIn(used), true);
    service.clock.advance(10 * dayMs);
    assert.equal(await isSignedIn(left), false);
    assert.equal(await isSignedIn(used), true);
    service.clock.advance(29 * dayMs);
    assert.equal(await isSignedIn(used), true);
    service.clock.advance(30 * dayMs);
    assert.equal(await isSignedIn(used), false);
  });

  it('signing out ends the session at once, on every process, and clears the cookie (§12.2/end-sessions)', async (t) => {
    const other = await service.startAnother();
    t.after(() => other.close());
    const browser = await enter();
    const there = browser.at(other.baseUrl);
    assert.equal(await isSignedIn(there), true);
    const answer = await browser.post('/app/account/sign-out');
    assert.deepEqual([answer.status, answer.json], [200, { signed_out: true }]);
    assert.deepEqual(answer.headers.getSetCookie(), ['ownline=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0']);
    const refused = await there.get('/app/account');
    assert.equal(refused.status, 401, refused.text);
    assert.match(refused.text, /Sign in/);
    const page = await (await enter()).submit('/sign-out');
    assert.deepEqual([page.status, page.headers.get('location')], [303, '/sign-in']);
  });

  it('people see all their sessions with the current one marked, and can end each (§12.2/end-sessions)', async () => {
    const account = await newAccount(service, { email: 'grace@example.com', password });
    const enterGrace = (userAgent: string) =>
      signedIn(service, 'grace@example.com', password, { 'user-agent': userAgent });
    const [phone, laptop] = [await enterGrace('Phone'), await enterGrace('x'.repeat(400))];
    const url = await newMagicLink(service, account);
    await new Browser(service.baseUrl, { 'user-agent': 'Mail' }).submit(new URL(url).pathname);
    service.clock.advance(61_000);
    const sessions = await sessionsOf(phone);
    assert.deepEqual(
      sessions.map(({ user_agent, current, method }) => [user_agent.slice(0, 5), current, method]).sort(),
      [
        ['Mail', false, 'link'],
        ['Phone', true, 'password'],
        ['xxxxx', false, 'password'],
      ],
    );
    const ofLaptop = sessions.find(({ user_agent }) => user_agent.startsWith('xxx'));
    assert.equal(ofLaptop?.user_agent.length, 300);
    const ada = await enter();
    assert.equal((await ada.delete(`/app/account/sessions/${ofLaptop.id}`)).status, 404, 'of another person');
    assert.equal(await isSignedIn(laptop), true);
    assert.deepEqual((await phone.delete(`/app/account/sessions/${ofLaptop.id}`)).json, { deleted: true });
    assert.equal(await isSignedIn(laptop), false);
    assert.equal((await phone.delete(`/app/account/sessions/${ofLaptop.id}`)).status, 404);
    const never = publicId('acs', service.runtime.ids.next('acs'));
    for (const id of [never, 'acs_x', 'x']) {
      assert.equal((await phone.delete(`/app/account/sessions/${id}`)).status, 404, id);
    }
    assert.equal((await sessionsOf(phone)).length, 2);
  });

  it('signing out everywhere ends all sessions of the account, the calling one included, and no other account’s', async () => {
    const [one, two] = [await enter(), await enter()];
    const grace = await signedIn(service, 'grace@example.com', password);
    const answer = await one.post('/app/account/sign-out-everywhere');
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.headers.get('set-cookie') ?? '', /Max-Age=0$/);
    assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [false, false]);
    assert.equal(await isSignedIn(grace), true);
  });

  it('expired sessions, magic links, passkey challenges and throttle counters are deleted (section 12.2)', async (t) => {
    const https = await startTestService({ APP_URL: 'https://texts.example.com' });
    t.after(() => https.close());
    const account = await newAccount(https, { email, password });
    const browser = await signedIn(https, email, password);
    await browser.signIn(email, 'wrong');
    await browser.post('/app/sign-in/passkey/options');
    await newMagicLink(https, account);
    const { purgeExpired } = await import('#server/accounts/sign-in/end-access.ts');
    const counts = async () => {
      await purgeExpired({ ...https.runtime, clock: https.clock });
      const { sessions, magicLinks, passkeyChallenges, throttleCounters } = await countSignInRows(https);
      return [sessions, magicLinks, passkeyChallenges, throttleCounters];
    };
    // The two throttle counters: of this device cookie, and of all device cookies of the account.
    assert.deepEqual(await counts(), [1, 1, 1, 2]);
    https.clock.advance(301_000);
    assert.deepEqual((await counts())[2], 0);
    https.clock.advance(4_500_000);
    assert.deepEqual(await counts(), [1, 0, 0, 0]);
    https.clock.advance(30 * dayMs);
    assert.deepEqual(await counts(), [0, 0, 0, 0]);
  });
});

const perMinute = 60;

describe('unknown session cookies (§12.3/refused-sessions)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });
  const member = given(() => newMember(service, team, 'member'));

  const ask = (value: string, path = '/app/account') =>
    httpRequest(service.baseUrl + path, { method: 'GET', headers: { cookie: value } });
  const madeUp = () => `ownline=${randomBytes(32).toString('base64url')}`;
  const statusesOf = async (cookies: readonly string[]) => {
    const answers = await Promise.all(cookies.map((value) => ask(value)));
    return Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]),
    );
  };
  const many = (count: number) => Array.from({ length: count }, madeUp);

  it('unknown session cookies get 401 up to a limit per client network and then 429, with few statements', async (t) => {
    nextMinute(service.clock);
    const watch = watchStatements(['account-sessions.find-live']);
    t.after(() => watch.stop());
    assert.deepEqual(await statusesOf(many(400)), { 401: perMinute, 429: 400 - perMinute });
    const shared = watch.take().length;
    assert.ok(shared > 0 && shared < 200, `${shared} statements for 400 cookies`);
    const wrong = madeUp();
    await ask(wrong);
    watch.take();
    assert.deepEqual(await statusesOf(Array.from({ length: 10 }, () => wrong)), { 429: 10 });
    assert.deepEqual(await statusesOf(['ownline=x', `${madeUp()}0`]), { 429: 2 });
    assert.deepEqual(watch.take(), [], 'refused from memory, or by their form');
  });

  it('unknown session cookies never make the server refuse a valid session or a page of their network', async () => {
    nextMinute(service.clock);
    await statusesOf(many(perMinute + 1));
    const { cookie: unseen } = await newMember(service, team, 'member');
    assert.deepEqual(await statusesOf([member.cookie, unseen, madeUp(), member.cookie]), { 200: 3, 429: 1 });
    assert.equal((await ask(madeUp(), '/sign-in')).status, 200);
  });

  it('an ended session is refused at once, even while its look-up is running', async () => {
    nextMinute(service.clock);
    const { cookie: ending } = await newMember(service, team, 'member');
    assert.equal((await ask(ending)).status, 200);
    const before = Array.from({ length: 20 }, () => ask(ending));
    const out = await httpRequest(`${service.baseUrl}/app/account/sign-out`, {
      method: 'POST',
      headers: { origin: service.baseUrl, cookie: ending },
    });
    assert.ok(out.status < 300, `${out.status} ${out.text}`);
    assert.deepEqual(await statusesOf(Array.from({ length: 20 }, () => ending)), { 401: 20 });
    await Promise.all(before);
  });
});
