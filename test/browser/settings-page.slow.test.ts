import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, keepPicture, type Look, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { loseSession, nameOfLook, openWatchedDashboard } from '#test/support/browser/dashboard-page.ts';
import { isDark, seriousAxeFindings, sidewaysOverflow } from '#test/support/browser/page-checks.ts';
import { assertSoundInBothThemes } from '#test/support/browser/sound-dashboard.ts';
import { addAuthenticator } from '#test/support/browser/virtual-authenticator.ts';
import { newCookie, newMember, type TeamMember } from '#test/support/people/people.ts';
import { until } from '#test/support/service/until.ts';

const password = 'a sentence that only Ada knows';

describe('the page of settings in a browser (specification sections 12.2 and 12.3)', () => {
  let origin: string;
  // Browsers bind passkeys to host names, not to IP addresses.
  const { service, browser } = givenBrowserTeam({ APP_URL: 'http://localhost:{port}' });

  before(async () => {
    origin = service.runtime.config.appUrl;
  });

  async function newOwner(email: string): Promise<TeamMember> {
    const team = await service.newTeam();
    return newMember(service, team, 'owner', { email, name: 'Ada Example', password, method: 'password' });
  }

  /** Opens the settings of a member, at the host name that passkeys are bound to. */
  async function open(
    member: TeamMember,
    look: Look,
  ): Promise<{ page: Page; complaints: readonly string[] }> {
    const { page, complaints } = await openWatchedDashboard(browser, member, '/settings', look, origin);
    await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
    return { page, complaints };
  }

  for (const look of looks) {
    it(`${nameOfLook(look)}: a person changes name, passkeys, password and sessions`, async () => {
      const owner = await newOwner(`ada-${nameOfLook(look).replace('×', 'x')}@example.com`);
      await newCookie(service, owner.account, 'link');
      const { page, complaints } = await open(owner, look);
      await page.getByText('This browser', { exact: true }).waitFor();
      await page.getByText('No passkeys yet').waitFor();
      await assertSoundInBothThemes(page, 'settings-first', look);
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
      await assertSoundInBothThemes(page, 'settings-add-passkey', look);
      await loseSession(page, origin);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${origin}/sign-in`);
        await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
        assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      }
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  for (const look of looks) {
    // The accessibility checker axe removes the virtual authenticator, so it runs last in this test.
    it(`${nameOfLook(look)}: a passkey is added, renamed, used to sign in, and removed (§12.2/passkeys, §12.2/passkey-button)`, async () => {
      const owner = await newOwner(`key-${nameOfLook(look).replace('×', 'x')}@example.com`);
      const { page, complaints } = await open(owner, look);
      const authenticator = await addAuthenticator(page);
      await page.getByRole('button', { name: 'Add passkey' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Work laptop');
      await keepPicture(page, `dashboard-settings-add-passkey-${nameOfLook(look)}`);
      await dialog.getByRole('button', { name: 'Add passkey' }).click();
      await page.getByText('The passkey is added').waitFor();
      await page.getByText(/not used yet/).waitFor();
      await page.getByRole('button', { name: 'Rename Work laptop' }).click();
      await dialog.getByLabel('Name').fill('Reception');
      await dialog.getByRole('button', { name: 'Rename passkey' }).click();
      await page.getByText('Reception', { exact: true }).waitFor();
      await keepPicture(page, `dashboard-settings-passkeys-${nameOfLook(look)}`);

      await loseSession(page, origin);
      await authenticator.answer(false);
      await page.goto(`${origin}/sign-in?next=/teams/${owner.team.publicId}/settings`);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await keepPicture(page, `people-sign-in-passkey-${nameOfLook(look)}`);
      assert.deepEqual(await sidewaysOverflow(page), []);
      await authenticator.answer(true);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
      await page
        .getByText(/with a passkey/)
        .first()
        .waitFor();

      await page.getByRole('button', { name: 'Remove Reception' }).click();
      await dialog.getByRole('button', { name: 'Remove passkey' }).click();
      await page.getByText('No passkeys yet').waitFor();
      assert.deepEqual(complaints, []);
      // The device still offers the removed passkey, and the sign-in page says that the server does not know it.
      await loseSession(page, origin);
      await authenticator.answer(false);
      await page.goto(`${origin}/sign-in`);
      await authenticator.answer(true);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText(/The server does not know this passkey/).waitFor();
      await keepPicture(page, `people-sign-in-passkey-refused-${nameOfLook(look)}`);
      assert.deepEqual([await seriousAxeFindings(page), await sidewaysOverflow(page)], [[], []]);
      await page.context().close();
    });
  }

  it("a passkey among the field's suggestions signs in without a click on a button (§12.2/passkey-button)", async () => {
    const owner = await newOwner('suggested@example.com');
    const { page, complaints } = await open(owner, desktop);
    const authenticator = await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Work laptop');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('The passkey is added').waitFor();
    await loseSession(page, origin);
    // Records the calls of `navigator.credentials.get`.
    await page.addInitScript(`(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      window.asked = [];
      navigator.credentials.get = (options) => {
        window.asked.push(options.mediation ?? 'required');
        return get(options);
      };
    })()`);

    await authenticator.answer(false);
    const address = `${origin}/sign-in?next=/teams/${owner.team.publicId}/settings`;
    await page.goto(address);
    await until('the suggestions are asked for', () => page.evaluate<boolean>('asked.length === 1'));
    assert.deepEqual(await page.evaluate('asked'), ['conditional']);
    assert.equal(await page.locator('#email').getAttribute('autocomplete'), 'username webauthn');
    assert.equal(page.url(), address, 'it waits for the person');

    // Headless Chromium shows no list of passkeys, so its authenticator answers as if the person had chosen one.
    await authenticator.answer(true);
    await page.goto(address);
    await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
    await page
      .getByText(/with a passkey/)
      .first()
      .waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('a device that can’t verify the person makes no passkey, and the dialog says what to set up (§12.2/user-verification)', async () => {
    const { page } = await open(await newOwner('unverified@example.com'), desktop);
    await addAuthenticator(page, { canVerify: false });
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Old key');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await dialog.getByText(/PIN, fingerprint or face/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('No passkeys yet').waitFor();
    await page.context().close();
  });

  it('the sign-in page shows no error if the browser offers no suggestions of passkeys (§12.2/passkey-button)', async () => {
    const { page } = await open(await newOwner('quiet@example.com'), desktop);
    await loseSession(page, origin);
    await page.addInitScript(`(() => {
      window.refusals = 0;
      navigator.credentials.get = async () => {
        window.refusals += 1;
        throw new DOMException('not allowed', 'NotAllowedError');
      };
    })()`);
    await page.goto(`${origin}/sign-in`);
    await until('the suggestions are refused', () => page.evaluate<boolean>('refusals === 1'));
    assert.equal(await page.locator('#passkey [role=alert]').isVisible(), false);
    await page.locator('#passkey button').click();
    await page.getByText('No passkey was used').waitFor();
    await page.context().close();
  });

  it('a person changes the password, signs out another browser, and then signs out all browsers (§12.2/end-sessions)', async () => {
    const owner = await newOwner('sessions@example.com');
    const other = await newCookie(service, owner.account, 'link');
    const { page, complaints } = await open(owner, desktop);
    const isOpen = async (cookie: string) =>
      (await fetch(`${service.baseUrl}/app/account`, { headers: { cookie } })).status === 200;
    assert.equal(await isOpen(other), true);
    await page.getByRole('button', { name: 'Sign out test', exact: true }).click();
    await page.getByText('test is signed out').waitFor();
    assert.deepEqual([await isOpen(other), await isOpen(owner.cookie)], [false, true]);
    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password').fill(`${password} now`);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText(/This is not your current password/).waitFor();
    await keepPicture(page, `dashboard-settings-refused-${nameOfLook(desktop)}`);
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password is set').waitFor();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL((url) => url.pathname === '/sign-in');
    assert.equal(await isOpen(owner.cookie), false);
    // The browser logs the refused password as a failed request.
    assert.deepEqual(
      complaints.filter((complaint) => !/status of 400/.test(complaint)),
      [],
    );
    await page.context().close();
  });

  it('the chosen theme applies from the first paint on, also to the sign-in page (§12.3/theme)', async () => {
    const owner = await newOwner('theme@example.com');
    const { page, complaints } = await open(owner, desktop);
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
    await page.goto(`${origin}/billing`);
    assert.equal(await isDark(page), true);
    await page.goto(`${origin}/teams/${owner.team.publicId}/settings`);
    await page.getByRole('button', { name: 'System' }).click();
    assert.equal(await isDark(page), false);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme=dark]').waitFor();
    assert.equal(await isDark(page), true);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it("the sign-in page works without scripts in the system's theme, and shows no passkeys (§12.2/sign-in-pages)", async () => {
    await newOwner('plain@example.com');
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${origin}/sign-in?next=/billing`);
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
    await keepPicture(page, 'people-sign-in-without-script');
    await page.getByLabel('E-mail address').fill('plain@example.com');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${origin}/billing`);
    await context.close();
  });

  it('a viewer reads which administrators can rename the team', async () => {
    const team = await service.newTeam();
    await newMember(service, team, 'owner', { name: 'Olga Example' });
    const viewer = await newMember(service, team, 'viewer');
    const { page } = await open(viewer, desktop);
    await page.getByText('To change the name, ask Olga Example.').waitFor();
    assert.equal(await page.getByLabel('Name of the team').count(), 0);
    await page.context().close();
  });

  it('adding a passkey asks for the password if the sign-in is older than 15 minutes (§12.2/reauthentication)', async () => {
    const owner = await newOwner('older@example.com');
    const { page } = await open(owner, desktop);
    service.clock.advance(20 * 60_000);
    await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await dialog.getByLabel('Current password').fill('not this one');
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await dialog.getByText(/This is not your current password/).waitFor();
    await dialog.getByLabel('Current password').fill(password);
    await dialog.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('The passkey is added').waitFor();
    await page.context().close();
  });
});
