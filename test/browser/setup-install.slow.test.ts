import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenPages } from '#test/support/browser/pages.ts';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { act } from '#test/support/setup/setup-page.ts';
import { makeSigningCommand } from '#test/support/setup/signing-command.ts';

async function startSetup(context: TestContext, settings: Readonly<Record<string, string>>) {
  const service = await startTestService(settings);
  context.after(() => service.close());
  const { api } = await service.newTeam();
  const { json } = await api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
  return { service, setupUrl: String(json.setup_url) };
}

describe('getting the shortcuts on the setup page', () => {
  const { visit } = givenPages();

  for (const [signs, next] of [
    [true, 'Get Ownline Inbound'],
    [false, 'Open the list'],
  ] as const) {
    it(`the page waits for a signing command that ${signs ? 'works' : 'fails'}, and a button runs the command again (§11.8/sign-command)`, async (context) => {
      const waits = 'until [ -e "$(dirname "$0")/go" ]; do sleep 0.05; done; ';
      const works = 'printf AEA1 > "$2"; cat "$1" >> "$2"';
      const command = await makeSigningCommand(waits + (signs ? works : 'exit 1'));
      context.after(command.remove);
      const { service, setupUrl } = await startSetup(context, { SHORTCUT_SIGN_COMMAND: command.setting });
      const page = await visit(`${setupUrl}?view=phone`, { look: phone });
      await page.getByRole('button', { name: 'iOS 27' }).click();
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('button', { name: 'Add two shortcuts', expanded: true }).waitFor();
      await page.getByRole('button', { name: 'Preparing the shortcuts', disabled: true }).first().waitFor();
      await writeFile(join(command.folder, 'go'), '');
      await page.getByRole('link', { name: next }).waitFor();
      if (signs) await act(setupUrl, 'form', { form: 26 });
      else {
        service.clock.advance(5 * 60_000);
        await page.reload();
      }
      await page.getByRole('button', { name: 'Prepare the shortcuts' }).first().waitFor();
      await assertSound(page, `setup-prepare-${signs}`);
      await page.getByRole('button', { name: 'Prepare the shortcuts' }).first().click();
      await page.getByRole('link', { name: next }).waitFor();
      assert.equal((await command.runs()).length, signs ? 4 : 2);
    });
  }

  it('a setup page without shortcuts for the chosen iOS names the missing settings, and the person can choose the other iOS', async (context) => {
    const { setupUrl } = await startSetup(context, {
      SHORTCUT_OUTBOX_URL: 'https://www.icloud.com/shortcuts/a1',
      SHORTCUT_INBOUND_URL: 'https://www.icloud.com/shortcuts/a2',
    });
    const [computer, page] = [
      await visit(`${setupUrl}?view=computer`),
      await visit(`${setupUrl}?view=phone`, { look: phone }),
    ];
    await computer.getByText('An iPhone with iOS 27 or newer cannot add the shortcuts').waitFor();
    await page.getByRole('button', { name: 'iOS 27' }).click();
    for (const view of [computer, page]) {
      await view.getByRole('heading', { name: 'has to prepare this first' }).waitFor();
      await view.getByText('or all of SHORTCUT_OUTBOX_27_URL, SHORTCUT_INBOUND_27_URL,').waitFor();
    }
    await page.getByRole('button', { name: 'iOS 17 to 26' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
  });
});
