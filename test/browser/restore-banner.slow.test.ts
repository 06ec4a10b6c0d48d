import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { recordRestore } from '#server/app/record-restore.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { findFirstTeam } from '#server/teams/team/team-store.ts';
import { desktop, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import { assertSoundDashboard, nameOfLook, openDashboard } from '#test/support/browser/dashboard-page.ts';
import { newCookie, newMember, Person, TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

describe('the banner of a restored server in a browser (specification section 10.8)', () => {
  const opened = givenBrowserTeam();

  const bannerOf = (page: Page) => page.getByRole('region', { name: 'Restored server' });

  it('the restore banner counts waiting work, and only owners can cancel it and resume', async (context) => {
    const { service, browser } = opened;
    const first = await findFirstTeam(service.runtime.database.pool);
    assert.ok(first);
    const team = {
      id: first.id,
      publicId: publicId('team', first.id),
      api: await service.newKey(first.id, ['*']),
    };
    const number = await connectNumber(service, team);
    const message = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: 'Hello' });
    const owner = await newMember(service, team, 'owner');
    const viewer = await newMember(service, await service.newTeam(), 'viewer');
    const { database, clock } = service.runtime;
    await database.transaction((trx) =>
      recordRestore(trx, {
        restored_at: clock.now(),
        backup_taken_at: clock.in(-3_600_000),
        product_version: '0.1.0',
        schema_version: 16,
      }),
    );
    const restored = await service.startAnother();
    context.after(() => restored.close());
    const signIn = async ({ account, memberId, ...member }: TeamMember) => {
      const person = new Person(restored.baseUrl, account, await newCookie(service, account));
      return new TeamMember(person, member.team, memberId);
    };
    const [ada, vera] = [await signIn(owner), await signIn(viewer)];
    for (const look of looks) {
      const page = await openDashboard(browser, ada, '/messages', look);
      await bannerOf(page)
        .getByText('Waiting from the backup: 1 message, 0 deliveries to webhooks and')
        .waitFor();
      await assertSoundDashboard(page, `restored-${nameOfLook(look)}`);
      await page.getByRole('button', { name: 'Resume …' }).click();
      await page.getByLabel('Cancel the messages that waited in the backup').waitFor();
      await assertSoundDashboard(page, `restored-resume-${nameOfLook(look)}`);
      await page.context().close();
    }
    const other = await openDashboard(browser, vera, '', desktop);
    await bannerOf(other)
      .getByText('An owner of the first team, or the person who runs this server, decides.')
      .waitFor();
    assert.equal(await other.getByRole('button', { name: 'Resume …' }).count(), 0);
    await assertSoundDashboard(other, 'restored-of-others');
    await other.context().close();

    const page = await openDashboard(browser, ada, '', desktop);
    await bannerOf(page).waitFor();
    assert.equal(await page.getByText('Everything is fine').count(), 0, 'a held message does not go out');
    await page.getByRole('button', { name: 'Resume …' }).click();
    await page.getByLabel('Cancel the messages that waited in the backup').check();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    // While the dialog is open, look-ups by role do not find the page behind it.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await team.api.get(`/v1/messages/${message}`)).json.error_code, 'cancelled');
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await bannerOf(page).count(), 0);
    await page.context().close();
  });
});
