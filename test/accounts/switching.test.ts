import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser, type BrowserAnswer } from '#test/support/browser/browser-client.ts';
import { markEmailVerified } from '#test/support/people/given-accounts.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newPerson } from '#test/support/people/people.ts';
import type { ApiAnswer } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';

const password = 'a sentence that nobody guesses';

describe('switching the account on the sign-in page and on invitations (specification section 12.2)', () => {
  const { service, team } = givenTeam();

  const invite = async (email: string) => {
    return new URL((await inviteTo(service, team, email)).accept_url).pathname;
  };
  const memberId = async (email: string) =>
    ((await team.api.get('/v1/team/members')).json.members as { id: string; email: string }[]).find(
      (member) => member.email === email,
    )?.id;
  /** Finds the action (the path) of the form with the given button. */
  const actionOf = (text: string, button: string) =>
    new RegExp(`<form method="post" action="([^"]*)">(?:(?!</form>)[\\s\\S])*${button}`).exec(text)?.[1] ??
    '';

  it('a signed-in person sees the account on /sign-in, and can continue to the next path or sign out (§12.2/sign-in-pages)', async () => {
    const eve = await newPerson(service);
    const browser = new Browser(service.baseUrl, { cookie: eve.cookie });
    const page = await browser.open('/sign-in?next=/invite/abc');
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(eve.email) && page.text.includes('<a href="/invite/abc">Go on'));
    const out = await browser.submit(actionOf(page.text, 'Sign out'));
    assert.deepEqual([out.status, out.headers.get('location')], [303, '/sign-in?next=/invite/abc']);
    assert.equal((await eve.get('/app/account')).status, 401);
    assert.match((await browser.open('/sign-in?next=/invite/abc')).text, /name="password"/);
    const away = await browser.submit('/sign-out?next=https://example.net/');
    assert.equal(away.headers.get('location'), '/sign-in');
  });

  it('a signed-in person signs out on an invitation page, signs in as the invited person, and joins', async () => {
    const [ada, eve] = [await newPerson(service, { password }), await newPerson(service)];
    const link = await invite(ada.email);
    const browser = new Browser(service.baseUrl, { cookie: eve.cookie });
    const refused = await browser.open(link);
    const out = await browser.submit(actionOf(refused.text, 'Sign out and go on'));
    const signIn = out.headers.get('location') ?? '';
    assert.equal(signIn, `/sign-in?next=${link}`);
    const entered = await browser.submit(signIn, { email: ada.email, password, by: 'password' });
    assert.deepEqual([entered.status, entered.headers.get('location')], [303, link]);
    assert.equal((await browser.submit(link)).status, 303);
  });

  it('signing out on an owner link without an address shows the form for a new account', async () => {
    const here = await service.newTeam();
    const eve = await newPerson(service);
    const url = await newOwnerLink(service, here);
    const link = new URL(url).pathname;
    const browser = new Browser(service.baseUrl, { cookie: eve.cookie });
    const page = await browser.open(link);
    const out = await browser.submit(actionOf(page.text, 'Sign out and go on'), { go: 'on' });
    assert.deepEqual([out.status, out.headers.get('location')], [303, link]);
    assert.match((await browser.open(link)).text, /name="email"/);
  });

  it('a second submit of a form without a form token gets a page that leads to the sign-in', async () => {
    const link = await invite('twice@example.com');
    const browser = new Browser(service.baseUrl);
    const form = { name: 'Ada', password };
    const pressed = await Promise.all([browser.submit(link, form), browser.submit(link, form)]);
    assert.deepEqual(pressed.map(({ status }) => status).sort(), [303, 404]);
    const over = pressed.find(({ status }) => status === 404);
    assert.match(
      over?.text ?? '',
      /<h1>This invitation was used<\/h1><p>[^<]*<\/p>\s*<p><a class="button" href="\/sign-in">/,
    );
  });

  it('two browsers that submit a link with one form token are both signed in, and a browser with another token is not', async () => {
    const link = await invite('again@example.com');
    const browsers = [new Browser(service.baseUrl), new Browser(service.baseUrl)];
    const page = await new Browser(service.baseUrl).open(link);
    const press = /name="form_token" value="([\w-]{43})"/.exec(page.text)?.[1] ?? '';
    const form = { name: 'Ada', password, form_token: press };
    const pressed = await Promise.all(browsers.map((browser) => browser.submit(link, form)));
    assertEach(pressed, ({ status, headers }) => [status, headers.get('location')], [
      [303, '/'],
      [303, '/'],
    ]);
    for (const browser of browsers)
      assert.match((await browser.get('/app/account')).text, /again@example\.com/);
    const other = await new Browser(service.baseUrl).open(await invite('third@example.com'));
    const foreign = /name="form_token" value="([\w-]{43})"/.exec(other.text)?.[1] ?? '';
    for (const wrong of ['', foreign, `${press}x`]) {
      const answer = await new Browser(service.baseUrl).submit(link, { ...form, form_token: wrong });
      assert.deepEqual([answer.status, answer.headers.getSetCookie()], [404, []], wrong);
    }
    service.clock.advance(61_000);
    assert.equal((await new Browser(service.baseUrl).submit(link, form)).status, 404, 'a minute later');
  });

  it('no second submit signs in after the password changed, its sessions ended or the member was removed', async () => {
    const elsewhere = await service.newTeam();
    const change = { password: `${password} at all`, current_password: password };
    const ends: Readonly<
      Record<string, (ada: Browser, email: string) => Promise<BrowserAnswer | ApiAnswer>>
    > = {
      'a new password': (ada) => ada.put('/app/account/password', change),
      'signing out': (ada) => ada.post('/app/account/sign-out'),
      'signing out everywhere': (ada) => ada.post('/app/account/sign-out-everywhere'),
      removal: async (_, email) => team.api.delete(`/v1/team/members/${await memberId(email)}`),
      'removal of who is in another team': async (ada, email) => {
        const { accept_url } = await inviteTo(service, elsewhere, email);
        await markEmailVerified(service, email);
        assert.equal((await ada.submit(new URL(accept_url).pathname)).status, 303);
        return team.api.delete(`/v1/team/members/${await memberId(email)}`);
      },
    };
    for (const [n, [how, end]] of Object.entries(ends).entries()) {
      const email = `ended${n}@example.com`;
      const link = await invite(email);
      const form = { name: 'Ada', password, form_token: `the form ${n}` };
      const ada = new Browser(service.baseUrl);
      assert.equal((await ada.submit(link, form)).status, 303);
      const second = new Browser(service.baseUrl);
      assert.equal((await second.submit(link, form)).status, 303, `before ${how}`);
      assert.equal((await second.post('/app/account/sign-out')).status, 200);
      assert.equal((await end(ada, email)).status, 200, how);
      const after = await new Browser(service.baseUrl).submit(link, form);
      assert.deepEqual([after.status, after.headers.getSetCookie()], [404, []], how);
    }
  });

  it('a second submit of a form does not sign in if another form began the session, or the session joined another team', async () => {
    const form = { name: 'Ada', password, form_token: 'the form of one who signs in again' };
    const email = 'again-by-password@example.com';
    const again = await invite(email);
    const ada = new Browser(service.baseUrl);
    assert.equal((await ada.submit(again, form)).status, 303);
    assert.equal((await ada.post('/app/account/sign-out')).status, 200);
    assert.equal((await ada.submit('/sign-in', { email, password, by: 'password' })).status, 303);
    assert.equal((await new Browser(service.baseUrl).submit(again, form)).status, 404);

    service.clock.advance(61_000);
    const elsewhere = await inviteTo(service, await service.newTeam(), email);
    await markEmailVerified(service, email);
    const second = new URL(elsewhere.accept_url).pathname;
    assert.equal((await ada.submit(second, form)).status, 303);
    assert.equal((await new Browser(service.baseUrl).submit(second, form)).status, 404);
  });

  it('every redirect and link stays below the path of APP_URL', async (t) => {
    const appUrl = 'https://example.com/texts';
    const below = await startTestService({ APP_URL: appUrl });
    t.after(() => below.close());
    const [ada, eve] = [await newPerson(below), await newPerson(below)];
    const there = await below.newTeam();
    const { accept_url } = await inviteTo(below, there, ada.email);
    assert.ok(accept_url.startsWith(`${appUrl}/invite/`));
    const link = new URL(accept_url).pathname.slice('/texts'.length);
    const nobody = await new Browser(below.baseUrl).open(link);
    assert.ok(nobody.text.includes(`<a href="/texts/sign-in?next=${link}" class="button">`), nobody.text);
    const other = await new Browser(below.baseUrl, { cookie: eve.cookie }).open(link);
    assert.equal(actionOf(other.text, 'Sign out and go on'), `/texts/sign-out?next=${link}`);
    const joined = await new Browser(below.baseUrl, { cookie: ada.cookie }).submit(link);
    assert.deepEqual([joined.status, joined.headers.get('location')], [303, '/texts/']);
    const over = await new Browser(below.baseUrl).open(link);
    assert.match(over.text, /<a class="button" href="\/texts\/sign-in">/);
  });
});
