import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const run = promisify(execFile);

describe('the page API keys in a browser', () => {
  const { service, team, open } = givenBrowserTeam();
  const owner = given(() => newMember(service, team, 'owner', { name: 'Ada Example' }));
  const number = given(() => connectNumber(service, team));

  /** Opens the dialog for a new key, and fills in its name. */
  async function begin(page: Page, name: string): Promise<Locator> {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill(name);
    return dialog;
  }

  /** Creates the key of a dialog. @returns the key's text and the sample request */
  async function create(dialog: Locator) {
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    const key = await dialog.locator('pre').first().innerText();
    return { key, command: await dialog.locator('pre').nth(1).innerText() };
  }

  /** Runs a command from the page in a shell. */
  async function runInShell(command: string): Promise<{ readonly status: number; readonly body: string }> {
    const { stdout } = await run('sh', ['-c', `${command} -s -w '\n%{http_code}'`]);
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
  }

  it('the dialog stays open while a key is created, and copies the key by a selection on plain http', async () => {
    const page = await open(owner, '/keys');
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.reload();
    const release = Promise.withResolvers<void>();
    await page.route('**/keys', async (route) => {
      if (route.request().method() === 'POST') await release.promise;
      await route.continue();
    });
    const dialog = await begin(page, 'Slow');
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await asked;
    for (const name of ['Cancel', 'Close'])
      await dialog.getByRole('button', { name, disabled: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(3, 3);
    release.resolve();
    await dialog.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    const key = await dialog.locator('pre').first().innerText();
    await dialog.getByRole('button', { name: 'Copy the key' }).click();
    await dialog.getByText('Copied').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await begin(page, '');
    await page.keyboard.press('Control+V');
    assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), key);
  });

  it('the sample request of a new key is shown once the team’s numbers are loaded, and then has a real number', async () => {
    const page = await open(owner, '/keys');
    const release = Promise.withResolvers<void>();
    await page.route('**/numbers', async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.reload();
    const dialog = await begin(page, 'Early');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    assert.equal(await dialog.locator('pre').count(), 1);
    release.resolve();
    await dialog.getByText(`"from":"${number.phoneNumber}"`).waitFor();
  });

  for (const [name, begins, status, answered, change] of [
    ['Live', /^own_live_/, 202, () => `"from":"${number.phoneNumber}"`, async () => undefined],
    [
      'CI',
      /^own_test_/,
      202,
      () => '"from":"+15005550100"',
      (form: Locator) => form.getByLabel('Test key', { exact: true }).check(),
    ],
    [
      'Assistant',
      /^own_live_/,
      202,
      () => `"from":"${number.phoneNumber}"`,
      (form: Locator) => form.getByLabel('Answers for the team').check(),
    ],
    [
      'Reader',
      /^own_live_/,
      200,
      () => '"numbers":[',
      (form: Locator) => form.getByLabel('Send and cancel messages').uncheck(),
    ],
  ] as const) {
    it(`the key ${name} is shown with a sample request that its permissions allow, in each language and with the right sender (§5.4/test-key)`, async () => {
      const page = await open(owner, '/keys');
      const dialog = await begin(page, name);
      await change(dialog);
      const { key, command } = await create(dialog);
      assert.match(key, begins);
      const { status: sent, body } = await runInShell(command);
      assert.equal(sent, status, body);
      assert.ok(body.replaceAll(' ', '').includes(answered()), body);
      const path = /\/v1\/[\w/]+/.exec(command)?.[0] ?? 'no path';
      for (const language of ['Node', 'Python']) {
        await dialog.getByRole('button', { name: language }).click();
        assert.ok((await dialog.locator('pre').nth(1).innerText()).includes(path), language);
      }
      await assertSound(page, `dashboard-keys-created-${name}`);
      await dialog.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row').filter({ hasText: name });
      for (const [mark, of] of [
        ['Test', 'CI'],
        ['Answers', 'Assistant'],
      ] as const)
        assert.equal(await row.getByText(mark, { exact: true }).count(), name === of ? 1 : 0, mark);
    });
  }

  it('a key is created, shown once, revoked and then refused', async () => {
    const page = await open(owner, '/keys', { look: phone });
    const dialog = await begin(page, 'Booking');
    const { key, command } = await create(dialog);
    await page.keyboard.press('Escape');
    await page.mouse.click(3, 3);
    assert.equal(await dialog.locator('pre').first().innerText(), key, 'kept until a button closes it');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(key), 'shown once');
    const row = page.getByRole('row').filter({ hasText: 'Booking' });
    assert.match(await row.innerText(), /by Ada Example/);

    await row.getByRole('button', { name: 'Revoke Booking' }).click();
    assert.match(await dialog.innerText(), /Revoke “Booking”/);
    await assertSound(page, 'dashboard-keys-revoke');
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('The key is revoked').first().waitFor();
    await row.waitFor({ state: 'detached' });
    await until('the key is refused', async () => (await runInShell(command)).status === 401);
  });

  it('a member creates keys with no more permissions than the member, and can revoke only those keys', async () => {
    const member = await newMember(service, team, 'member', { name: 'Grace Example' });
    await owner.post(owner.in('/keys'), { name: 'Of the owner', permissions: ['team:write'] });
    const page = await open(member, '/keys', { look: phone });
    const dialog = await begin(page, 'Of Grace');
    const grants = dialog.getByRole('group', { name: 'The key may' });
    assert.equal(await grants.getByRole('checkbox').count(), 5);
    assert.equal(await dialog.getByText('team:write').count(), 0);
    assert.match(await dialog.innerText(), /Ask Ada Example for one/);
    await assertSound(page, 'dashboard-keys-member-creates');
    await create(dialog);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke Of Grace' }).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'Of the owner' }).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Revoke Of the owner' }).count(), 0);
    const { keys } = (await owner.get(owner.in('/keys'))).json as { keys: Record<string, unknown>[] };
    assert.deepEqual(keys.find(({ name }) => name === 'Of Grace')?.permissions, [
      'messages:send',
      'numbers:read',
    ]);
  });

  it('the page says why only owners make a key that may invite people (§5.3/keys-of-owners)', async () => {
    const admin = await newMember(service, team, 'admin');
    for (const [person, text, boxes] of [
      [owner, /Worth an admin: the key can also change roles/, 1],
      [admin, /worth an admin, so only owners make one\. Ask Ada Example/, 0],
    ] as const) {
      const page = await open(person, '/keys');
      const dialog = await begin(page, '');
      await dialog.getByText(text).scrollIntoViewIfNeeded();
      const box = dialog.getByRole('checkbox', { name: /invite and remove members/ });
      assert.equal(await box.count(), boxes);
      await assertSound(page, `dashboard-keys-team-write-${boxes === 1 ? 'owner' : 'admin'}`);
    }
  });
});
