import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { keepPicture, phone } from '#test/support/browser/browser.ts';
import { isDark } from '#test/support/browser/page-checks.ts';
import { assertSound, givenBrowserTeam, loseSession, refusals } from '#test/support/browser/pages.ts';
import { newCookie, newMember } from '#test/support/people/people.ts';
import { until } from '#test/support/service/until.ts';

const password = 'a sentence that only Ada knows';

describe('the page of settings in a browser (specification sections 12.2 and 12.3)', () => {
  // Browsers bind passkeys to host names, not to IP addresses.
  const { service, browser, open } = givenBrowserTeam({ APP_URL: 'http://localhost:{port}' });
  const addressOf = (path: string) => `${service.runtime.config.appUrl}${path}`;

  /** Makes the owner of a new team, and opens the settings at the host name that passkeys are bound to. */
  async function openAsOwner(email: string, opening: Parameters<typeof open>[2] = {}) {
    const fields = { email, name: 'Ada Example', password, method: 'password' } as const;
    const owner = await newMember(service, await service.newTeam(), 'owner', fields);
    const page = await open(owner, '/settings', { origin: addressOf(''), ...opening });
    await untilOpen(page);
    return { owner, page, settings: `/teams/${owner.team.publicId}/settings` };
  }
  const untilOpen = (page: Page) => page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();

  async function addPasskey(page: Page, name: string) {
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    return dialog;
  }

  it('a person reads the dashboard in German or Spanish, which a browser chooses or a person (§12.3/languages)', async () => {
    const { page } = await openAsOwner('language@example.com');
    for (const [name, heading, lang] of [
      ['Deutsch', 'Nachrichten', 'de'],
      ['Español', 'Mensajes', 'es'],
      ['English', 'Messages', 'en'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('link', { name: heading }).first().waitFor();
      assert.equal(await page.evaluate('document.documentElement.lang'), lang);
      await assertSound(page, `dashboard-settings-${lang}`);
    }
  });

  it('a person changes the names of the team and of the account', async () => {
    const { page } = await openAsOwner('ada@example.com');
    await page.getByText('This browser', { exact: true }).waitFor();
    await page.getByLabel('Name of the team').fill('Example Dental');
    await page.getByRole('button', { name: 'Save name' }).first().click();
    await page.getByText('The team has its new name').waitFor();
    await page.getByLabel('Your name').fill('Ada Lovely');
    await page.getByRole('button', { name: 'Save name' }).last().click();
    await page.getByText('Your name is saved').waitFor();
    await page.reload();
    await page.getByText('This browser', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Name of the team').inputValue(), 'Example Dental');
    assert.equal(await page.getByLabel('Your name').inputValue(), 'Ada Lovely');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await assertSound(page, 'dashboard-settings-add-passkey');
    await loseSession(page, addressOf(''));
    await page.goto(addressOf('/sign-in'));
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await assertSound(page, 'people-sign-in-passkey');
  });

  // The accessibility checker axe removes the virtual authenticator, so it runs last in this test.
  it('a passkey is added, renamed, used to sign in, and removed (§12.2/passkeys)', async () => {
    const { page, settings } = await openAsOwner('key@example.com', { look: phone, provokes: refusals });
    const answer = await addAuthenticator(page);
    const dialog = await addPasskey(page, 'Work laptop');
    await page.getByText('The passkey is added').waitFor();
    await page.getByText(/not used yet/).waitFor();
    await page.getByRole('button', { name: 'Rename Work laptop' }).click();
    await dialog.getByLabel('Name').fill('Reception');
    await dialog.getByRole('button', { name: 'Rename passkey' }).click();
    await page.getByText('Reception', { exact: true }).waitFor();
    await keepPicture(page, 'dashboard-settings-passkeys');

    const signInWithPasskey = async (path: string) => {
      await loseSession(page, addressOf(''));
      await answer(false);
      await page.goto(addressOf(path));
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await answer(true);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    };
    await signInWithPasskey(`/sign-in?next=${settings}`);
    await untilOpen(page);
    await page
      .getByText(/with a passkey/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Remove Reception' }).click();
    await dialog.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('No passkeys yet').waitFor();
    // The device still offers the removed passkey, and the sign-in page says that the server does not know it.
    await signInWithPasskey('/sign-in');
    await page.getByText(/The server does not know this passkey/).waitFor();
    await assertSound(page, 'people-sign-in-passkey-refused');
  });

  it('a person signs in with a passkey from the suggestions of the address field, without a click on a button', async () => {
    const { page, settings } = await openAsOwner('suggested@example.com');
    const answer = await addAuthenticator(page);
    await addPasskey(page, 'Work laptop');
    await page.getByText('The passkey is added').waitFor();
    await loseSession(page, addressOf(''));
    // Records the calls of `navigator.credentials.get`.
    await page.addInitScript(`(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      window.asked = [];
      navigator.credentials.get = (options) => {
        window.asked.push(options.mediation ?? 'required');
        return get(options);
      };
    })()`);

    await answer(false);
    const address = addressOf(`/sign-in?next=${settings}`);
    await page.goto(address);
    await until('the suggestions are asked for', () => page.evaluate<boolean>('asked.length === 1'));
    assert.deepEqual(await page.evaluate('asked'), ['conditional']);
    assert.equal(await page.locator('#email').getAttribute('autocomplete'), 'username webauthn');
    assert.equal(page.url(), address, 'it waits for the person');

    // Headless Chromium shows no list of passkeys, so its authenticator answers as if the person had chosen one.
    await answer(true);
    await page.goto(address);
    await untilOpen(page);
    await page
      .getByText(/with a passkey/)
      .first()
      .waitFor();
  });

  it('a device that can’t verify the person makes no passkey, and the dialog says what to set up (§12.2/user-verification)', async () => {
    const { page } = await openAsOwner('unverified@example.com', { provokes: refusals });
    await addAuthenticator(page, { canVerify: false });
    const dialog = await addPasskey(page, 'Old key');
    await dialog.getByText(/PIN, fingerprint or face/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('No passkeys yet').waitFor();
  });

  it('adding a passkey asks for the password if the sign-in is older than 15 minutes (§12.2/reauthentication)', async () => {
    const { page } = await openAsOwner('older@example.com', { provokes: refusals });
    service.clock.advance(20 * 60_000);
    await addAuthenticator(page);
    const dialog = await addPasskey(page, 'Work laptop');
    await dialog.getByLabel('Current password').fill('not this one');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await dialog.getByText(/This is not your current password/).waitFor();
    await dialog.getByLabel('Current password').fill(password);
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('The passkey is added').waitFor();
  });

  it('the sign-in page shows no error if the browser can’t suggest passkeys', async () => {
    const { page } = await openAsOwner('quiet@example.com');
    await loseSession(page, addressOf(''));
    await page.addInitScript(`(() => {
      window.refusals = 0;
      navigator.credentials.get = async () => {
        window.refusals += 1;
        throw new DOMException('not allowed', 'NotAllowedError');
      };
    })()`);
    await page.goto(addressOf('/sign-in'));
    await until('the suggestions are refused', () => page.evaluate<boolean>('refusals === 1'));
    assert.equal(await page.locator('#passkey [role=alert]').isVisible(), false);
    await page.locator('#passkey button').click();
    await page.getByText('No passkey was used').waitFor();
  });

  it('a person changes the password, signs out another browser, and then signs out all browsers (§12.2/end-sessions)', async () => {
    const { owner, page } = await openAsOwner('sessions@example.com', { look: phone, provokes: refusals });
    const other = await newCookie(service, owner.account, 'link');
    const isOpen = async (cookie: string) =>
      (await fetch(`${service.baseUrl}/app/account`, { headers: { cookie } })).status === 200;
    assert.equal(await isOpen(other), true);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out test', exact: true }).click();
    await page.getByText('test is signed out').waitFor();
    assert.deepEqual([await isOpen(other), await isOpen(owner.cookie)], [false, true]);
    const change = async (current: string) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password').fill(`${password} now`);
      await page.getByRole('button', { name: 'Change password' }).click();
    };
    await change('not this one');
    await page.getByText(/This is not your current password/).waitFor();
    await change(password);
    await page.getByText('Your password is set').waitFor();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    assert.equal(await isOpen(owner.cookie), false);
  });

  it('the chosen theme applies from the first paint on, also to the sign-in page', async () => {
    const { page, settings } = await openAsOwner('theme@example.com');
    await page.getByRole('button', { name: 'Dark' }).click();
    assert.equal(await isDark(page), true);
    // The page is dark before any file of the application has loaded.
    await page.route('**/assets/*.js', () => {});
    await page.reload({ waitUntil: 'commit' });
    await until('the styles have loaded', () =>
      page.evaluate('document.body !== null && document.styleSheets.length > 0'),
    );
    assert.equal(await isDark(page), true);
    assert.equal(await page.locator('h1').count(), 0);
    await page.unrouteAll();
    await page.goto(addressOf('/billing'));
    assert.equal(await isDark(page), true);
    await page.goto(addressOf(settings));
    await page.getByRole('button', { name: 'System' }).click();
    assert.equal(await isDark(page), false);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme=dark]').waitFor();
    assert.equal(await isDark(page), true);
  });

  it("the sign-in page works without scripts in the system's theme, and shows no passkeys (§12.2/sign-in-pages)", async () => {
    await newMember(service, await service.newTeam(), 'owner', { email: 'plain@example.com', password });
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(addressOf('/sign-in?next=/billing'));
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
    await keepPicture(page, 'people-sign-in-without-script');
    await page.getByLabel('E-mail address').fill('plain@example.com');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(addressOf('/billing'));
    await context.close();
  });
});

/**
 * Adds an authenticator inside the browser, like a laptop's fingerprint reader.
 * @param canVerify false for a device that has neither PIN nor fingerprint reader
 * @returns a function that lets the person confirm all requests at once, or none
 */
async function addAuthenticator(page: Page, { canVerify = true } = {}) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: canVerify,
      isUserVerified: canVerify,
      automaticPresenceSimulation: true,
    },
  });
  return async (enabled: boolean) => {
    await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  };
}
