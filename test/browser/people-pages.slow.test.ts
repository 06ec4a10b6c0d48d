import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { keyboardStops } from '#test/support/browser/page-checks.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';

const password = 'a sentence that only Ada knows';

describe('the pages of people in a browser (specification section 12.2)', () => {
  const { service, team, visit } = givenBrowserTeam();

  const invite = async (email: string) => (await inviteTo(service, team, email)).accept_url;

  /** Checks looks, accessibility, texts, and the names of the elements that Tab reaches, in order. */
  async function assertShows(page: Page, state: string, texts: readonly RegExp[], stops: readonly RegExp[]) {
    await assertSound(page, `people-${state}`);
    const shown = await page.innerText('body');
    for (const text of texts) assert.match(shown, text);
    const met = await keyboardStops(page);
    assert.equal(met.length, stops.length, JSON.stringify(met));
    for (const [index, stop] of stops.entries()) assert.match(met[index]?.name ?? '', stop);
    assert.ok(met.every(({ isSeen }) => isSeen));
  }

  async function signIn(page: Page, email: string, typed = password) {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(typed);
    await page.keyboard.press('Enter');
  }

  it('a new person joins by keyboard, signs out and signs in with the password (§12.2/sign-in-pages)', async () => {
    const email = 'ada@example.com';
    const link = await invite(email);
    const page = await visit(link);
    const fields = [/e-mail/, /name/, /password/i, /Join/];
    await assertShows(page, 'invited', [/Join Example team/, new RegExp(email)], fields);
    await page.getByLabel('Your name').fill('Ada Example');
    await page.getByLabel('Password').fill('short but n');
    await page.getByRole('button', { name: 'Join' }).focus();
    await page.evaluate('document.querySelector("form").noValidate = true');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await assertShows(page, 'refused', [/password must have 12 to 200 characters/], fields);
    assert.equal(await page.getByLabel('Your name').inputValue(), 'Ada Example', 'typed once');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.goto(`${service.baseUrl}/sign-in`);
    await assertShows(page, 'signed-in', [/You are signed in/, new RegExp(email)], [/Go on as/, /Sign out/]);
    await page.getByRole('button', { name: /Sign out/ }).click();
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    const signInStops = [/e-mail/i, /password/i, /Sign in/];
    await assertShows(page, 'sign-in', [/Ask the operator of this server/], signInStops);
    await signIn(page, email.toUpperCase(), 'wrong');
    await page.getByRole('alert').waitFor();
    await assertShows(page, 'wrong', [/The address or the password is wrong/], signInStops);
    await signIn(page, email.toUpperCase());
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    assert.equal((await page.goto(link))?.status(), 404);
    await assertShows(page, 'over', [/This invitation was used/], [/Sign in/]);
  });

  it('a person who joins by a double click without a password is signed in and may set one', async () => {
    const page = await visit(await invite('grace@example.com'), { look: phone });
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
    const person = await newMember(service, await service.newTeam(), 'viewer', { password });
    const page = await visit(await invite(person.email), { look: phone });
    await assertShows(page, 'has-account', [/has an account here/], [/Sign in as/]);
    await page.getByRole('link', { name: /Sign in as/ }).click();
    await signIn(page, person.email);
    await page.waitForURL((url) => url.pathname.startsWith('/invite/'));
    await assertShows(page, 'signed-in-invited', [/You are signed in as/], [/Join/]);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  it('the page of an unknown address links to the start page, and the page of plans to the sign-in', async () => {
    const person = await newMember(service, await service.newTeam({ plan: 'free' }), 'owner', { password });
    const page = await visit(`${service.baseUrl}/plans/none`);
    await assertShows(page, 'astray', [/There is no page at this address/], [/Go to the start/]);
    await page.goto(`${service.baseUrl}/billing`);
    const plans = [/Ownline sells no plans/, /Free\s+Messages a month\s+100/];
    await assertShows(page, 'plans', plans, [/Sign in/]);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn(page, person.email);
    await page.waitForURL(`${service.baseUrl}/billing`);
    const billing = [/Plan Free/, /of 100/, /Only the operator of this server gives these plans/];
    await assertShows(page, 'billing', billing, [/See the usage of/]);
  });
});
