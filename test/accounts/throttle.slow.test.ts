import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countPasswordAttempt } from '#server/accounts/throttling/throttle.ts';
import { Browser, newAccount } from '#test/support/browser/browser-client.ts';
import { newMagicLink } from '#test/support/people/given-links.ts';
import {
  type CreationOptions,
  type RequestOptions,
  SoftwareAuthenticator,
} from '#test/support/people/software-authenticator.ts';
import { storedThrottleCounters } from '#test/support/people/stored-accounts.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { watchArgon2 } from '#test/support/service/watch-argon2.ts';

const password = 'a sentence that nobody guesses';
const wrong = 'a wrong password';
const quarterMs = 900_000;
const appUrl = 'https://texts.example.com';

describe('the throttle of failed passwords (specification section 12.2)', () => {
  const service = givenService({ TRUST_PROXY: 'loopback', APP_URL: appUrl });
  const other = given(() => service.startAnother());
  let people = 0;

  /** Begins a new throttle window with a new account. */
  const begin = async () => {
    service.clock.advance(quarterMs - (service.clock.nowMs() % quarterMs));
    people += 1;
    const email = `person-${people}@example.com`;
    return { email, account: await newAccount(service, { email, password }) };
  };
  const at = (source: string, baseUrl = service.baseUrl) =>
    new Browser(baseUrl, { 'x-forwarded-for': source });
  const attempt = (source: string, email: string, written = wrong, baseUrl = service.baseUrl) =>
    at(source, baseUrl).signIn(email, written);
  const statusOf = async (...asked: Parameters<typeof attempt>) => (await attempt(...asked)).status;
  /** Counts the responses per status. */
  const all = async (tries: readonly Promise<number>[]) => {
    const counts: Record<number, number> = {};
    for (const status of await Promise.all(tries)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  /** Counts attempts in the throttle as the route does, without computing password hashes. */
  const counted = (tries: readonly { readonly source: string; readonly email: string }[]) =>
    Promise.all(
      tries.map(({ source, email }) =>
        countPasswordAttempt(service.runtime, { email, ip: source, accountId: undefined }),
      ),
    );
  const each = <T>(n: number, make: (n: number) => T) => Array.from({ length: n }, (_, index) => make(index));

  it('every process refuses an 11th attempt for one e-mail address from one client network within 15 minutes (§12.2/failed-passwords)', async () => {
    const { email } = await begin();
    const [here, there] = ['198.51.100.1', '198.51.100.2'];
    for (const n of each(10, (n) => n)) {
      const baseUrl = n % 2 === 0 ? service.baseUrl : other.baseUrl;
      assert.equal(await statusOf(here, email.toUpperCase(), wrong, baseUrl), 401);
    }
    for (const baseUrl of [service.baseUrl, other.baseUrl]) {
      assert.equal(await statusOf(here, email, wrong, baseUrl), 429);
      assert.equal(await statusOf(here, email, password, baseUrl), 429);
    }
    assert.equal(await statusOf(there, email, password), 303, 'from elsewhere');
    assert.equal(await statusOf(here, 'somebody-else@example.com'), 401, 'another address');
  });

  it('the answer to a throttled sign-in has advice and the time after which a password is checked again', async () => {
    const { email } = await begin();
    service.clock.advance(100_000);
    for (const _ of each(10, () => 0)) await attempt('198.51.100.1', email);
    const held = await attempt('198.51.100.1', email, password);
    const seconds = Number(held.headers.get('retry-after'));
    assert.ok(seconds > 700 && seconds <= 800, `retry-after: ${seconds}`);
    assert.match(
      held.text,
      new RegExp(
        `Retry in ${seconds} seconds, or sign in with a passkey or a link from the operator of this server`,
      ),
    );
    service.clock.advance(seconds * 1_000);
    assert.equal(await statusOf('198.51.100.1', email, password), 303);
  });

  it('only 10 of 60 simultaneous passwords are checked, because attempts are counted before the check', async () => {
    const { email } = await begin();
    const watch = watchArgon2();
    const counts = await all(each(60, () => statusOf('198.51.100.1', email)));
    watch.stop();
    assert.deepEqual([counts, watch.runs()], [{ 401: 10, 429: 50 }, 10]);
  });

  it('one client network, 64 bits of an IPv6 address, has 50 attempts for all e-mail addresses together', async () => {
    const { email } = await begin();
    const sourceOf = (n: number) => `2001:db8:1:2:${(n + 1).toString(16)}::${n.toString(16)}`;
    const strangerOf = (n: number) => `somebody-${n}@example.com`;
    await counted(each(40, (n) => ({ source: sourceOf(n), email: strangerOf(n) })));
    assert.deepEqual(await all(each(10, (n) => statusOf(sourceOf(40 + n), strangerOf(40 + n)))), { 401: 10 });
    assert.equal(await statusOf('2001:DB8:1:2::1', email, password), 429);
    assert.equal(await statusOf('2001:db8:1:3::1', email, password), 303);
    assert.equal(await statusOf('::ffff:198.51.100.1', email), 401);
    for (const _ of each(9, () => 0)) await attempt('198.51.100.1', email);
    assert.equal(await statusOf('198.51.100.1', email), 429, 'IPv4 is one source however it is written');
  });

  it('one e-mail address has 100 attempts in all, except from client networks with a session of the account (§12.2/failed-passwords)', async () => {
    const { email } = await begin();
    const own = at('203.0.113.7');
    assert.equal((await own.signIn(email, password)).status, 303);
    await counted(each(90, (n) => ({ source: `198.51.100.${n}`, email })));
    assert.deepEqual(await all(each(10, (n) => statusOf(`198.51.100.${90 + n}`, email))), { 401: 10 });
    assert.equal(await statusOf('198.51.101.1', email, password), 429, 'from an unknown source');
    assert.equal(await statusOf('203.0.113.7', email, password), 303, 'from where its owner is');
    assert.equal(await statusOf('203.0.113.7', email), 401);
    await own.post('/app/account/sign-out-everywhere');
    assert.equal(await statusOf('203.0.113.7', email, password), 429, 'once signed out everywhere');
  });

  it('an e-mail address without an account is throttled like any other', async () => {
    await begin();
    const email = `nobody-${people}@example.com`;
    assert.deepEqual(await all(each(12, () => statusOf('198.51.100.1', email))), { 401: 10, 429: 2 });
    await counted(each(80, (n) => ({ source: `198.51.102.${n}`, email })));
    assert.deepEqual(await all(each(15, (n) => statusOf(`198.51.102.${80 + n}`, email))), {
      401: 10,
      429: 5,
    });
  });

  it('right passwords and throttled attempts do not count', async () => {
    const { email } = await begin();
    for (const _ of each(15, () => 0)) assert.equal(await statusOf('198.51.100.1', email, password), 303);
    assert.deepEqual(await all(each(10, () => statusOf('198.51.100.1', email, password))), { 303: 10 });
    // These attempts would reach the limit of the e-mail address if throttled attempts counted.
    assert.deepEqual(await all(each(20, () => statusOf('198.51.100.1', email))), { 401: 10, 429: 10 });
    for (const _ of each(5, () => 0))
      assert.deepEqual(await all(each(20, () => statusOf('198.51.100.1', email))), { 429: 20 });
    assert.equal(await statusOf('198.51.100.2', email, password), 303);
    const counters = await storedThrottleCounters(service, service.clock.in(-quarterMs));
    // Counters of the client network, of the e-mail address, and of both together.
    assertEach(counters, ({ hits }) => hits, [10, 10, 10]);
  });

  describe('sign-ins with a device cookie, which marks a known browser', () => {
    const here = '198.51.100.1';
    const signIn = (browser: Browser, email: string, written = password) => browser.signIn(email, written);
    /** Makes a browser with a device cookie: it signs in by a magic link and signs out again. */
    const knownTo = async (account: Awaited<ReturnType<typeof newAccount>>) => {
      const browser = at(here);
      const url = await newMagicLink(service, account);
      assert.equal((await browser.submit(new URL(url).pathname)).status, 303);
      assert.equal((await browser.post('/app/account/sign-out')).status, 200);
      assert.notEqual(browser.cookie, '', 'signing out keeps what it is known by');
      return browser;
    };
    const lockOut = async (email: string) => {
      assert.deepEqual(await all(each(12, () => statusOf(here, email))), { 401: 10, 429: 2 });
    };

    it('failed passwords of strangers in its client network do not throttle a known browser, on any process (§12.2/device-cookie)', async () => {
      const { email, account } = await begin();
      const owner = await knownTo(account);
      await lockOut(email);
      // Uses up the limits of the e-mail address and of the client network.
      await counted(each(90, (n) => ({ source: `198.51.103.${n}`, email })));
      await counted(each(40, (n) => ({ source: here, email: `somebody-${n}@example.com` })));
      assert.equal(await statusOf('198.51.104.1', email, password), 429, 'the address');
      assert.equal(await statusOf(here, 'somebody-else@example.com'), 429, 'the client network');
      assert.equal(await statusOf(here, email, password), 429, 'a stranger who guessed right');
      assert.equal((await signIn(owner.at(other.baseUrl), email)).status, 303);
      assert.equal((await signIn(owner, email.toUpperCase())).status, 303);
      // A password change checks the current password, and the throttle lets a known browser do that, too.
      const change = { password: `${password}, and more`, current_password: password };
      const changed = await owner.request('PUT', '/app/account/password', { body: change });
      assert.equal(changed.status, 200, changed.text);
    });

    it('one known browser may send 10 wrong passwords, and all known browsers of an account together 100 (§12.2/device-cookie)', async () => {
      const { email, account } = await begin();
      const browsers = await Promise.all(each(11, () => knownTo(account)));
      for (const browser of browsers.slice(0, 10)) {
        const tries = each(12, async () => (await signIn(browser, email, wrong)).status);
        assert.deepEqual(await all(tries), { 401: 10, 429: 2 });
        assert.equal((await signIn(browser, email)).status, 429);
      }
      const last = browsers[10] ?? assert.fail();
      assert.equal((await signIn(last, email)).status, 429, 'of all together');
      assert.equal(await statusOf(here, email, password), 303, 'strangers’ are counted apart');
      service.clock.advance(quarterMs);
      assert.equal((await signIn(last, email)).status, 303);
    });

    it('right passwords of a known browser do not count towards its limit', async () => {
      const { email, account } = await begin();
      const owner = await knownTo(account);
      for (const _ of each(15, () => 0)) assert.equal((await signIn(owner, email)).status, 303);
      assert.equal((await signIn(owner, email, wrong)).status, 401);
    });

    it('a device cookie of another account, a forged one and an expired one have no effect (§12.2/device-cookie)', async () => {
      const { email, account } = await begin();
      const foreign = await knownTo(await newAccount(service, { email: `other-of-${email}` }));
      const { cookie } = await knownTo(account);
      const [name, value = ''] = cookie.split('=');
      const middle = Math.floor(value.length / 2);
      const changed = `${value.slice(0, middle)}${value[middle] === 'A' ? 'B' : 'A'}${value.slice(middle + 1)}`;
      await lockOut(email);
      assert.equal((await signIn(foreign, email)).status, 429);
      for (const forged of [changed, value.slice(0, 40), 'x', '%00', account.id]) {
        const headers = { 'x-forwarded-for': here, cookie: `${name}=${forged}` };
        assert.equal((await signIn(new Browser(service.baseUrl, headers), email)).status, 429, forged);
      }
      const old = new Browser(service.baseUrl, { 'x-forwarded-for': here, cookie });
      service.clock.advance(401 * 86_400_000);
      await begin();
      await lockOut(email);
      assert.equal((await signIn(old, email)).status, 429);
    });

    it('signing out everywhere ends the device cookie (§12.2/device-cookie)', async () => {
      const { email, account } = await begin();
      const stolen = await knownTo(account);
      const owner = at('203.0.113.7');
      await signIn(owner, email);
      await owner.post('/app/account/sign-out-everywhere');
      await lockOut(email);
      assert.equal((await signIn(stolen, email)).status, 429);
      assert.equal((await signIn(owner, email)).status, 303);
    });
  });

  it('links and passkeys sign in while passwords are throttled (§12.2/failed-passwords)', async () => {
    const { email, account } = await begin();
    const own = at('203.0.113.7');
    await own.signIn(email, password);
    const authenticator = new SoftwareAuthenticator(appUrl);
    const creation = (await own.post('/app/account/passkeys/options')).json as unknown as CreationOptions;
    const response = authenticator.create(creation);
    assert.equal((await own.post('/app/account/passkeys', { name: 'Laptop', response })).status, 201);
    await own.post('/app/account/sign-out-everywhere');
    await counted(each(100, (n) => ({ source: `198.51.100.${n % 11}`, email })));
    assert.equal(await statusOf('198.51.100.1', email, password), 429);

    const locked = at('198.51.100.1');
    const request = (await locked.post('/app/sign-in/passkey/options')).json as unknown as RequestOptions;
    const entered = await locked.post('/app/sign-in/passkey', { response: authenticator.get(request) });
    assert.equal(entered.status, 200, entered.text);
    const url = await newMagicLink(service, account);
    assert.equal((await at('198.51.100.1').submit(new URL(url).pathname)).status, 303);
  });

  it('the sign-in page shows the errors of a sign-in', async () => {
    const { email } = await begin();
    const browser = at('198.51.100.1');
    await browser.signIn(email, password);
    const change = () =>
      browser.put('/app/account/password', { password: 'another sentence', current_password: wrong });
    for (const _ of each(5, () => 0)) assert.equal((await change()).status, 400);
    for (const _ of each(10, () => 0)) {
      const page = await attempt('198.51.100.1', email);
      assert.equal(page.status, 401);
      assert.match(page.text, /role="alert"[^>]*>The address or the password is wrong/);
      assert.ok(page.text.includes(`value="${email}"`) && !page.text.includes(wrong));
    }
    for (const _ of each(5, () => 0)) assert.equal((await change()).status, 400, 'strangers do not count');
    assert.equal((await change()).status, 429);
    const page = await attempt('198.51.100.1', email, password);
    assert.equal(page.status, 429);
    assert.match(page.text, /Too many wrong passwords were tried\. Retry in \d+ seconds/);
    assert.ok(Number(page.headers.get('retry-after')) > 0);
  });

  it('throttle counters are stored under hashes, without e-mail addresses and client networks', async () => {
    const { email } = await begin();
    await attempt('198.51.100.77', email);
    const counters = await storedThrottleCounters(service);
    assert.ok(counters.length > 0 && counters.every(({ subject }) => subject.length === 32));
  });
});
