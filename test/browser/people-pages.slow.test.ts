import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { beforeEach, describe, it } from 'node:test';
import { assertSoundPage } from '#test/support/browser/assert-page.ts';
import { looks, newPage } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { given, givenEach } from '#test/support/service/given.ts';

const password = 'a sentence that only Ada knows';

describe('the pages of people in a browser (specification sections 12.2 to 12.4)', () => {
  const { service, team, browser } = givenBrowserTeam();
  const owner = given(() => newMember(service, team, 'owner'));

  async function invite(email: string): Promise<string> {
    return (await inviteTo(service, team, email)).accept_url;
  }

  for (const look of looks) {
    const name = `${look.width}×${look.height}-${look.colorScheme}`;
    describe(name, () => {
      let complaints: readonly string[];
      const page = givenEach(() => newPage(browser, look));

      beforeEach(async () => {
        complaints = complaintsAbout(page, service.baseUrl);
      });

      const assertSound = (state: string, texts: readonly RegExp[], stops: readonly (string | RegExp)[]) =>
        assertSoundPage(page, { look, complaints, picture: `people-${state}-${name}`, texts, stops });

      it('a new person joins by keyboard, signs out and signs in with the password (§12.2/sign-in-pages)', async () => {
        const email = `ada-${name.replace('×', 'x')}@example.com`;
        const link = await invite(email);
        await page.goto(link);
        const fields = [/e-mail/, /name/, /password/i, /Join/];
        await assertSound('invited', [/Join Example team/, new RegExp(email)], fields);
        await page.getByLabel('Your name').fill('Ada Example');
        await page.getByLabel('Password').fill('short but not enough'.slice(0, 11));
        await page.getByRole('button', { name: 'Join' }).focus();
        await page.evaluate('document.querySelector("form").noValidate = true');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').waitFor();
        await assertSound('refused', [/password must have 12 to 200 characters/], fields);
        assert.equal(await page.getByLabel('Your name').inputValue(), 'Ada Example', 'typed once');
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
        await page.goto(`${service.baseUrl}/sign-in`);
        await assertSound('signed-in', [/You are signed in/, new RegExp(email)], [/Go on as/, /Sign out/]);
        await page.getByRole('button', { name: /Sign out/ }).click();
        await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
        await assertSound(
          'sign-in',
          [/Sign in/, /Ask the operator of this server/],
          [/e-mail/i, /password/i, /Sign in/],
        );
        await page.getByLabel('E-mail address').fill(email.toUpperCase());
        await page.getByLabel('Password').fill('wrong');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').waitFor();
        await assertSound(
          'wrong',
          [/The address or the password is wrong/],
          [/e-mail/i, /password/i, /Sign in/],
        );
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
        assert.equal((await page.goto(link))?.status(), 404);
        await assertSound('over', [/This invitation was used/], [/Sign in/]);
      });

      it('a person who joins by a double click without a password is signed in and may set one (§12.4/double-submit)', async () => {
        await page.goto(await invite(`grace-${name.replace('×', 'x')}@example.com`));
        await page.getByLabel('Your name').fill('Grace Example');
        await page.getByRole('button', { name: 'Join' }).dblclick();
        await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
        await page.goto(`${service.baseUrl}/teams/${team.publicId}/settings`);
        await page.getByText('You have none yet: you sign in with a passkey or a link.').waitFor();
        await page.getByLabel('New password').fill(password);
        await page.keyboard.press('Enter');
        await page.getByText('Your password is set').waitFor();
        await page.getByRole('heading', { name: 'Change your password' }).waitFor();
      });

      it('a person with an account signs in and returns to the invitation', async () => {
        const other = await service.newTeam();
        const person = await newMember(service, other, 'viewer', { password });
        await page.goto(await invite(person.email));
        await assertSound('has-account', [/has an account here/], [/Sign in as/]);
        await page.getByRole('link', { name: /Sign in as/ }).click();
        await page.getByLabel('E-mail address').fill(person.email);
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.waitForURL((url) => url.pathname.startsWith('/invite/'));
        await assertSound('signed-in', [/You are signed in as/], [/Join/]);
        await page.getByRole('button', { name: 'Join' }).click();
        await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      });

      it('an unknown address links to the start page, and the page of plans to the sign-in', async () => {
        const small = await service.newTeam({ plan: 'free' });
        const person = await newMember(service, small, 'owner', { password });
        assert.equal((await page.goto(`${service.baseUrl}/plans/none`))?.status(), 404);
        await assertSound('astray', [/There is no page at this address/], [/Go to the start/]);
        assert.equal((await page.goto(`${service.baseUrl}/billing`))?.status(), 200);
        await assertSound('plans', [/Ownline sells no plans/, /Free\s+Messages a month\s+100/], [/Sign in/]);
        await page.getByRole('link', { name: 'Sign in' }).click();
        await page.getByLabel('E-mail address').fill(person.email);
        await page.getByLabel('Password').fill(password);
        await page.keyboard.press('Enter');
        await page.waitForURL(`${service.baseUrl}/billing`);
        await assertSound(
          'billing',
          [/Plan Free/, /of 100/, /Only the operator of this server gives these plans/],
          [/See the usage of/],
        );
      });
    });
  }

  it('a form of another origin changes nothing, although the browser sends the session cookie (§12.3/csrf-and-checks)', async () => {
    const page = await newPage(browser, { width: 1280, height: 800, colorScheme: 'light' });
    const [cookieName = '', cookieValue = ''] = owner.cookie.split('=');
    await page.context().addCookies([{ name: cookieName, value: cookieValue, url: service.baseUrl }]);
    const attacks = [
      { address: owner.in('/team/leave'), method: 'POST' },
      { address: '/app/account/sign-out-everywhere', method: 'POST' },
      { address: '/sign-out', method: 'POST' },
      { address: '/sign-in', method: 'POST' },
    ];
    // Another port is another origin but the same site, so SameSite cookies do not stop the attack.
    const foreign = createServer((request, response) => {
      const { address = '' } = attacks[Number(request.url?.slice(1))] ?? {};
      response.setHeader('content-type', 'text/html');
      response.end(
        `<form method="post" enctype="text/plain" action="${service.baseUrl}${address}"><button>Win</button></form>`,
      );
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const bound = foreign.address();
    assert.ok(typeof bound === 'object' && bound !== null);
    try {
      for (const [index, { address }] of attacks.entries()) {
        await page.goto(`http://127.0.0.1:${bound.port}/${index}`);
        const answered = page.waitForResponse(
          (response) => response.url() === `${service.baseUrl}${address}`,
        );
        await page.getByRole('button').click();
        const answer = await answered;
        const headers = await answer.request().allHeaders();
        assert.equal(headers['sec-fetch-site'], 'same-site', 'a browser that tells');
        assert.ok(headers.cookie?.includes(cookieValue), 'and sends the cookie');
        assert.equal(answer.status(), 403, address);
      }
      assert.equal((await owner.get('/app/account')).status, 200, 'still signed in');
    } finally {
      await page.close();
      await new Promise((resolve) => foreign.close(resolve));
    }
  });
});
