import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { Grant } from '#contract/permissions.ts';
import { desktop, keepPicture, type Look, looks, phone } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import {
  assertSoundDashboard,
  nameOfLook,
  openWatchedDashboard,
} from '#test/support/browser/dashboard-page.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';

const run = promisify(execFile);

describe('the page API keys in a browser (specification section 12.12)', () => {
  const { service, team, browser } = givenBrowserTeam();
  const owner = given(() => newMember(service, team, 'owner', { name: 'Ada Example' }));
  const number = given(() => connectNumber(service, team));

  async function open(member: TeamMember, look: Look, path = '/keys') {
    const { page, complaints } = await openWatchedDashboard(browser, member, path, look);
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    return { page, complaints };
  }

  const assertSound = (page: Page, state: string) => assertSoundDashboard(page, `keys-${state}`);

  /** Creates a key as a person does. @returns the key's text and the sample request */
  async function create(
    page: Page,
    name: string,
    change: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
  ) {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill(name);
    await change(dialog);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    const key = await dialog.locator('pre').first().innerText();
    const command = await dialog.locator('pre').nth(1).innerText();
    return { dialog, key, command };
  }

  /** Runs a command from the page in a shell. */
  async function runInShell(command: string): Promise<{ readonly status: number; readonly body: string }> {
    const { stdout } = await run('sh', ['-c', `${command} -s -w '\n%{http_code}'`]);
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
  }

  const created = async () => {
    const { json } = await owner.get(owner.in('/keys'));
    return json.keys as readonly {
      readonly id: string;
      readonly name: string;
      readonly permissions: Grant[];
    }[];
  };

  it('the dialog stays open while a key is created, and copies the key by a selection on plain http (§12.12/page-shown-once)', async () => {
    const { page } = await open(owner, desktop);
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.reload();
    const release = Promise.withResolvers<void>();
    await page.route('**/keys', async (route) => {
      if (route.request().method() === 'POST') await release.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Slow');
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
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialog.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.press('Control+V');
    assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), key);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.context().close();
  });

  it('the sample request of a new key waits for the numbers of the team, and names no placeholder (§12.12/page-api-keys)', async () => {
    const { page } = await open(owner, desktop);
    const release = Promise.withResolvers<void>();
    await page.route('**/numbers', async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Early');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    assert.equal(await dialog.locator('pre').count(), 1);
    release.resolve();
    await dialog.getByText(`"from":"${number.phoneNumber}"`).waitFor();
    await page.context().close();
  });

  it('a test key is marked, and its sample request sends from the test line (§12.12/page-api-keys, §5.4/test-key)', async () => {
    const { page } = await open(owner, desktop);
    const { dialog, key, command } = await create(page, 'CI', async (form) => {
      await form.getByLabel('Test key', { exact: true }).check();
    });
    assert.match(key, /^own_test_/);
    const sent = await runInShell(command);
    assert.equal(sent.status, 202, sent.body);
    assert.ok(sent.body.includes('"from":"+15005550100"'), sent.body);
    await assertSound(page, 'created-test');
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'CI' });
    await row.getByText('Test', { exact: true }).waitFor();
    await page.context().close();
  });

  for (const look of looks) {
    it(`${nameOfLook(look)}: a key is created, shown once, used by curl, revoked and then refused (§12.12/page-api-keys)`, async () => {
      const { page, complaints } = await open(owner, look);
      const name = `Booking ${look.width}`;
      const { dialog, key, command } = await create(page, name, async () => undefined);
      await assertSound(page, `created-${nameOfLook(look)}`);
      assert.match(key, /^own_live_/);
      assert.ok(command.includes(key), command);

      await page.keyboard.press('Escape');
      await page.mouse.click(3, 3);
      assert.equal(await dialog.locator('pre').first().innerText(), key, 'kept until a button closes it');

      const sent = await runInShell(command);
      assert.equal(sent.status, 202, sent.body);
      assert.ok(sent.body.includes(`"from":"${number.phoneNumber}"`), sent.body);

      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.ok(!(await page.content()).includes(key), 'shown once');
      const row = page.getByRole('row').filter({ hasText: name });
      assert.match(await row.innerText(), /by Ada Example/);
      await page.reload();
      await row.waitFor();
      await assertSound(page, `full-${nameOfLook(look)}`);

      await row.getByRole('button', { name: `Revoke ${name}` }).click();
      const confirm = page.getByRole('dialog');
      assert.match(await confirm.innerText(), new RegExp(`Revoke “${name}”`));
      await keepPicture(page, `dashboard-keys-revoke-${nameOfLook(look)}`);
      await confirm.getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('The key is revoked').first().waitFor();
      await row.waitFor({ state: 'detached' });
      const refused = await until('the key is refused', async () => {
        const answer = await runInShell(command);
        return answer.status === 401 && answer;
      });
      assert.match(refused.body, /"unauthorized"/);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  it('a key that may only read is shown with a sample request that its permissions allow (§12.12/page-api-keys)', async () => {
    const { page } = await open(owner, desktop);
    const { command, dialog } = await create(page, 'Monitor', async (dialog) => {
      await dialog.getByLabel('Send and cancel messages').uncheck();
    });
    assert.match(command, /\/v1\/numbers/);
    assert.deepEqual((await runInShell(command)).status, 200);
    for (const language of ['Node', 'Python']) {
      await dialog.getByRole('button', { name: language }).click();
      assert.match((await dialog.locator('pre').allInnerTexts())[1] ?? '', /\/v1\/numbers/);
    }
    await page.context().close();
  });

  it('a member creates keys with no more permissions than the member, and can revoke only those keys (§12.12/page-api-keys)', async () => {
    const member = await newMember(service, team, 'member', { name: 'Grace Example' });
    await owner.post(owner.in('/keys'), { name: 'Of the owner', permissions: ['team:write'] });
    const { page, complaints } = await open(member, phone);
    const { dialog } = await create(page, 'Of Grace', async (dialog) => {
      const grants = dialog.getByRole('group', { name: 'The key may' });
      const offered = await grants.getByRole('checkbox').count();
      assert.equal(offered, 5);
      assert.equal(await dialog.getByText('team:write').count(), 0);
      assert.match(await dialog.innerText(), /Ask Ada Example for one/);
      await assertSound(page, `member-creates-${nameOfLook(phone)}`);
    });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke Of Grace' }).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'Of the owner' }).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Revoke Of the owner' }).count(), 0);
    const made = (await created()).find(({ name }) => name === 'Of Grace');
    assert.deepEqual(made?.permissions, ['messages:send', 'numbers:read']);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('a viewer has no link to the page API keys, and its address shows whom to ask (§12.12/page-permissions)', async () => {
    const viewer = await newMember(service, team, 'viewer', { name: 'Vera Example' });
    const { page, complaints } = await open(viewer, desktop);
    await page.getByText('Ask Ada Example for another role').waitFor();
    assert.equal(await page.getByRole('link', { name: 'API keys' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0);
    await assertSound(page, `viewer-${nameOfLook(desktop)}`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('the page says why only owners make a key that may invite people (§5.3/keys-of-owners, §12.12/page-api-keys)', async () => {
    const admin = await newMember(service, team, 'admin');
    for (const look of looks) {
      for (const [person, text, boxes] of [
        [owner, /Worth an admin: the key can also change roles/, 1],
        [admin, /worth an admin, so only owners make one\. Ask Ada Example/, 0],
      ] as const) {
        const { page } = await open(person, look);
        await page.getByRole('button', { name: 'Create key' }).first().click();
        const dialog = page.getByRole('dialog');
        await dialog.getByText(text).scrollIntoViewIfNeeded();
        assert.equal(
          await dialog.getByRole('checkbox', { name: /invite and remove members/ }).count(),
          boxes,
        );
        await assertSound(page, `team-write-${boxes === 1 ? 'owner' : 'admin'}-${nameOfLook(look)}`);
        await page.context().close();
      }
    }
  });

  it("the refusal of a key's name is shown at its field, and the typed name stays (§12.12/page-errors)", async () => {
    const { page } = await open(owner, phone);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('a\u202eb');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const field = dialog.getByLabel('Name', { exact: true });
    await until('the field is marked', async () => (await field.getAttribute('aria-invalid')) === 'true');
    assert.equal(await field.inputValue(), 'a\u202eb');
    await assertSound(page, `refused-${nameOfLook(phone)}`);
    await page.context().close();
  });

  it('the page API keys without keys offers the next step and is sound in all looks (§12.12/page-sound)', async () => {
    const empty = await newMember(service, await service.newTeam(), 'owner');
    const made = (await empty.get(empty.in('/keys'))).json.keys as readonly { readonly id: string }[];
    for (const { id } of made) await empty.delete(empty.in(`/keys/${id}`));
    for (const look of looks) {
      const { page, complaints } = await open(empty, look);
      await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
      await assertSound(page, `empty-${nameOfLook(look)}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });
});
