import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SignInMethod } from '#contract/account.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { newCookie, newPerson } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const password = 'a sentence that nobody guesses';
const another = 'another sentence that nobody guesses';
const freshMs = 900_000;

describe('the page on which a person sets a password (specification section 12.2)', () => {
  const service = givenService();

  /** A person with or without a password, signed in by the given method. */
  const begin = async (method: SignInMethod, given?: string) => {
    const person = await newPerson(service, given === undefined ? {} : { password: given });
    const enter = async () =>
      new Browser(service.baseUrl, { cookie: await newCookie(service, person.account, method) });
    const status = async (written: string) => {
      const form = { email: person.email, password: written, by: 'password' };
      return (await new Browser(service.baseUrl).submit('/sign-in', form)).status;
    };
    return { person, enter, browser: await enter(), signInWith: status };
  };
  /** Counts the audit entries of passwords that were set, and the refusals, with those in folded entries. */
  const notedOf = async (browser: Browser) => {
    const { entries } = (await browser.get('/app/account/audit')).json;
    const noted = (entries as Record<string, unknown>[]).filter(
      ({ action }) => action === 'account.password_set',
    );
    const refused = noted.filter(({ outcome }) => outcome === 'refused');
    return {
      done: noted.length - refused.length,
      refused: refused.reduce((sum, { details }) => sum + Number(field(details, 'repeats') ?? 1), 0),
    };
  };
  const untilRefusalsNoted = (browser: Browser, count: number) =>
    until(`${count} refusals are noted`, async () => (await notedOf(browser)).refused >= count);
  const isSignedIn = async (browser: Browser) => (await browser.get('/app/account')).status === 200;

  it('the password page sets a first password, confirms it once, and signs other browsers out (§12.2/sign-in-pages)', async () => {
    const { enter, browser, signInWith } = await begin('invitation');
    const elsewhere = await enter();
    const start = await browser.get('/password');
    assert.match(start.text, /<h2>Set a password<\/h2>/);
    assert.match(
      start.text,
      /without one you sign in next time with a link from the operator of this server/,
    );
    assert.match(start.text, /<form method="post" action="\/password">/);
    assert.ok(!start.text.includes('name="current_password"'));
    const set = await browser.submit('/password', { password });
    assert.deepEqual([set.status, set.headers.get('location')], [303, '/password']);
    const after = await browser.open('/password');
    assert.match(
      after.text,
      /role="status">Your password is set\. Every other browser of yours is signed out/,
    );
    assert.match(after.text, /<h2>Change your password<\/h2>/);
    assert.deepEqual([await isSignedIn(browser), await isSignedIn(elsewhere)], [true, false]);
    assert.equal(await signInWith(password), 303);
  });

  it('the notice of a new password appears once, within a minute, only in the session that set the password (§12.2/sign-in-pages)', async () => {
    const said = /Your password is set/;
    const { browser, enter } = await begin('link');
    assert.doesNotMatch((await browser.open('/password')).text, said);
    assert.equal((await browser.submit('/password', { password })).status, 303);
    assert.match((await browser.open('/password')).text, said);
    assert.doesNotMatch((await browser.open('/password')).text, said, 'once');
    const change = { password: another, current_password: password };
    const answer = await browser.submit('/password', change);
    const [notice = ''] = answer.headers.getSetCookie();
    assert.match(notice, /; HttpOnly; SameSite=Lax; Max-Age=60$/);
    const other = await enter();
    const [pair = ''] = notice.split(';');
    const cookie = `${other.cookie}; ${pair}`;
    assert.doesNotMatch(
      (await new Browser(service.baseUrl, { cookie }).open('/password')).text,
      said,
      'another session',
    );
    assert.match((await browser.open('/password')).text, said);
  });

  it('a change of the password needs the current one, and errors appear at their fields and in the audit log (§12.2/sign-in-pages)', async () => {
    const { browser, signInWith } = await begin('password', password);
    const start = await browser.get('/password');
    assert.match(start.text, /<h2>Change your password<\/h2>[\s\S]*name="current_password"/);
    const attempts = [
      [{ password: another, current_password: 'not this one' }, 400, 'current_password'],
      [{ password: another }, 400, 'current_password'],
      [{ password: 'too short', current_password: password }, 400, 'password'],
    ] as const;
    for (const [form, status, param] of attempts) {
      const answer = await browser.submit('/password', form);
      assert.equal(answer.status, status);
      assert.match(answer.text, /role="alert" id="problem"/);
      const field = new RegExp(`name="${param}"[^>]* aria-invalid="true" aria-describedby="problem"`);
      assert.match(answer.text, field);
      assert.ok(!answer.text.includes(another) && !answer.text.includes('not this one'));
    }
    assert.equal(await signInWith(password), 303, 'nothing was changed');
    const changed = await browser.submit('/password', { password: another, current_password: password });
    assert.equal(changed.status, 303);
    assert.deepEqual([await signInWith(password), await signInWith(another)], [401, 303]);
    // Refusals after the first are folded into one entry at the minute's end.
    service.clock.advance(60_000);
    await untilRefusalsNoted(browser, 3);
    assert.deepEqual(await notedOf(browser), { done: 1, refused: 3 });
  });

  it('a session that a magic link began needs the current password only after 15 minutes', async () => {
    const { browser, signInWith } = await begin('link', password);
    assert.ok(!(await browser.get('/password')).text.includes('name="current_password"'));
    service.clock.advance(freshMs);
    assert.ok((await browser.get('/password')).text.includes('name="current_password"'));
    assert.equal((await browser.submit('/password', { password: another })).status, 400);
    assert.equal(await signInWith(password), 303);
  });

  it('the page asks an old session for a new sign-in before it sets a first password (§12.2/sign-in-pages)', async () => {
    const { browser } = await begin('link');
    service.clock.advance(freshMs);
    const start = await browser.get('/password');
    assert.match(start.text, /signed in more than 15 minutes ago\. To set one, sign out, sign in again/);
    assert.match(start.text, /a link from the operator of this server/);
    assert.ok(!start.text.includes('name="password"'));
    const refused = await browser.submit('/password', { password });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /signed in more than 15 minutes ago/);
    assert.ok((await browser.get('/app/account')).text.includes('"has_password":false'));
  });

  it('the password page redirects to the sign-in without a session, and answers 403 to a form of another origin', async () => {
    const { browser, signInWith } = await begin('link', password);
    assert.match((await browser.get('/password')).text, /<h1>Password<\/h1>[\s\S]*Back to the start/);
    const visitor = new Browser(service.baseUrl);
    for (const answer of [
      await visitor.get('/password'),
      await visitor.submit('/password', { password: another }),
    ]) {
      assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/sign-in?next=/password']);
    }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const forged = await browser.submit('/password', { password: another }, { 'sec-fetch-site': site });
      assert.equal(forged.status, 403, site);
    }
    assert.equal(await signInWith(password), 303, 'nothing was changed');
    service.clock.advance(60_000);
    await untilRefusalsNoted(browser, 3);
    assert.deepEqual(await notedOf(browser), { done: 0, refused: 3 }, 'in the log of whose browser it was');
  });
});
