import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { holdQueuedMessages } from '#server/dashboard/restore/resume-restore.ts';
import { recordRestore } from '#server/operations/record-restore.ts';
import { publicId } from '#server/platform/ids.ts';
import { findFirstTeam } from '#server/teams/team/team.ts';
import { assertSound, givenBrowserTeam } from '#test/support/browser/pages.ts';
import { newCookie, newMember, Person, TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

describe('the banner of a restored server in a browser (specification section 10.8)', () => {
  const { service, open } = givenBrowserTeam();

  const bannerOf = (page: Page) => page.getByRole('region', { name: 'Restored server' });

  it('the banner after a restore or an outage counts waiting work, and only owners can cancel that work and resume', async (context) => {
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
    const other = await open(vera, '');
    await bannerOf(other)
      .getByText('An owner of the first team, or the person who runs this server, decides.')
      .waitFor();
    assert.equal(await other.getByRole('button', { name: 'Resume …' }).count(), 0);
    await assertSound(other, 'dashboard-restored-of-others');

    const page = await open(ada, '');
    await bannerOf(page)
      .getByText('Waiting from the backup: 1 message, 0 deliveries to webhooks and')
      .waitFor();
    assert.equal(await page.getByText('Everything is fine').count(), 0, 'a held message does not go out');
    await page.getByRole('button', { name: 'Resume …' }).click();
    await page.getByLabel('Cancel the messages that waited in the backup').check();
    await assertSound(page, 'dashboard-restored-resume');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    // While the dialog is open, look-ups by role do not find the page behind it.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await team.api.get(`/v1/messages/${message}`)).json.error_code, 'cancelled');
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await bannerOf(page).count(), 0);

    const held = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: 'Held' });
    await holdQueuedMessages(service.runtime);
    await page.reload();
    const outage = page.getByRole('region', { name: 'Held messages' });
    await outage.getByText('Held until it is resumed: 1 message.').waitFor();
    await outage.getByRole('button', { name: 'Resume …' }).click();
    await page.getByLabel('Cancel the messages that are held').check();
    assert.equal(await page.getByLabel('Skip the deliveries that waited in the backup').count(), 0);
    await assertSound(page, 'dashboard-outage-resume');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await team.api.get(`/v1/messages/${held}`)).json.error_code, 'cancelled');
  });
});
