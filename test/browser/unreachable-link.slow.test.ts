import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phone, startBrowser } from '#test/support/browser/browser.ts';
import { assertSoundDashboard, nameOfLook, openDashboard } from '#test/support/browser/dashboard-page.ts';
import { newMember } from '#test/support/people/people.ts';
import { newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('a setup link with an address of the server alone (specification section 12.12)', () => {
  const service = givenService();
  const browser = given(startBrowser);

  it('the dialog of a setup link with a local address warns that no iPhone reaches it, and shows no QR code (§12.12/page-connect)', async () => {
    const owner = await newMember(service, await service.newTeam(), 'owner', { name: 'Ada Example' });
    const page = await openDashboard(browser, owner, '/numbers?connect=true', phone);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Number of the iPhone').fill(newPhoneNumber());
    await dialog.getByRole('button', { name: 'Create setup link' }).click();
    await dialog.getByText('No iPhone reaches 127.0.0.1').waitFor();
    await assertSoundDashboard(page, `numbers-connect-unreachable-${nameOfLook(phone)}`);
    assert.match(await dialog.locator('pre').innerText(), /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await dialog.getByRole('img').count(), 0, 'no QR code');
    assert.equal(await dialog.getByText('Open on this iPhone').count(), 0);
  });
});
