import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { desktop, type Look, looks, phone } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import {
  assertSoundDashboard,
  nameOfLook,
  openWatchedDashboard,
} from '#test/support/browser/dashboard-page.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';

describe('the members on the page Team in a browser (specification section 12.12)', () => {
  const { service, browser } = givenBrowserTeam();

  /** Creates a team with a person of each role. */
  async function newTeamOfAll() {
    const team = await service.newTeam();
    const person = (role: 'owner' | 'admin' | 'member' | 'viewer', name: string) =>
      newMember(service, team, role, { name: `${name} Example` });
    return {
      team,
      ada: await person('owner', 'Ada'),
      sam: await person('admin', 'Sam'),
      grace: await person('member', 'Grace'),
      vera: await person('viewer', 'Vera'),
    };
  }

  async function open(member: TeamMember, look: Look, path = '/team') {
    const { page, complaints } = await openWatchedDashboard(browser, member, path, look);
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    await page.getByRole('row').filter({ hasText: member.email }).waitFor();
    return { page, complaints };
  }

  const menuOf = (page: Page, name: string) =>
    page.getByRole('button', { name: `Actions for ${name} Example` });
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: `${name} Example` });

  async function choose(page: Page, name: string, action: string) {
    await menuOf(page, name).click();
    await page.getByRole('menuitem', { name: action }).click();
    return page.getByRole('dialog');
  }

  async function rolesOf(member: TeamMember): Promise<Record<string, string>> {
    const { json } = await member.get(member.in('/team/members'));
    const members = json.members as readonly { readonly name: string; readonly role: string }[];
    return Object.fromEntries(members.map(({ name, role }) => [name.split(' ')[0] ?? '', role]));
  }

  const newKeyOf = async (member: TeamMember, name: string) => {
    const answer = await member.post(member.in('/keys'), { name, permissions: ['messages:send'] });
    assert.equal(answer.status, 201, answer.text);
  };
  async function keyNames(member: TeamMember): Promise<string[]> {
    const { json } = await member.get(member.in('/keys'));
    const keys = json.keys as readonly { readonly name: string }[];
    return keys.map(({ name }) => name).filter((name) => name !== 'test');
  }

  for (const look of looks) {
    it(`${nameOfLook(look)}: an owner changes roles, makes and unmakes owners, and leaves (§12.12/page-team-members)`, async () => {
      const { ada, grace, vera } = await newTeamOfAll();
      await newKeyOf(grace, 'Of Grace');
      const { page, complaints } = await open(ada, look);
      await assertSoundDashboard(page, `team-members-${nameOfLook(look)}`);
      assert.equal(await menuOf(page, 'Ada').count(), 0, 'the only owner neither leaves nor changes role');
      assert.match(await page.innerText('main'), /You are the only owner/);

      const lower = await choose(page, 'Grace', 'Change role');
      await lower.getByLabel('Viewer').check();
      assert.match(await lower.innerText(), /are revoked: “Of Grace”/);
      await assertSoundDashboard(page, `team-role-${nameOfLook(look)}`);
      await lower.getByRole('button', { name: 'Change role' }).click();
      await rowOf(page, 'Grace').getByText('Viewer').waitFor();
      assert.deepEqual(await keyNames(ada), []);

      const raise = await choose(page, 'Vera', 'Change role');
      await raise.getByLabel('Owner').check();
      await raise.getByRole('button', { name: 'Change role' }).click();
      await rowOf(page, 'Vera').getByText('Owner').waitFor();
      assert.deepEqual(await rolesOf(ada), { Ada: 'owner', Sam: 'admin', Grace: 'viewer', Vera: 'owner' });

      const unmake = await choose(page, 'Vera', 'Change role');
      await unmake.getByLabel('Member').check();
      await unmake.getByRole('button', { name: 'Change role' }).click();
      await rowOf(page, 'Vera').getByText('Member').waitFor();

      const again = await choose(page, 'Vera', 'Change role');
      await again.getByLabel('Owner').check();
      await again.getByRole('button', { name: 'Change role' }).click();
      await menuOf(page, 'Ada').waitFor();
      const leave = await choose(page, 'Ada', 'Leave team');
      await assertSoundDashboard(page, `team-leave-${nameOfLook(look)}`);
      // The browser's errors are checked first, because requests in progress are refused after the person has left the
      // team.
      assert.deepEqual(complaints, []);
      await leave.getByRole('button', { name: 'Leave team' }).click();
      // Two navigations lead to the sign-in page, and one aborts the other. The form is shown after both navigations.
      await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
      assert.equal(new URL(page.url()).pathname, '/sign-in');
      assert.deepEqual(await rolesOf(vera), { Sam: 'admin', Grace: 'viewer', Vera: 'owner' });
      await page.context().close();
    });
  }

  it("an admin who removes a member is asked which of the member's keys to revoke (§12.12/page-team-members)", async () => {
    const { sam, grace } = await newTeamOfAll();
    for (const name of ['Booking', 'Laptop', 'Monitor']) await newKeyOf(grace, name);
    const { page, complaints } = await open(sam, phone);
    assert.equal(await menuOf(page, 'Ada').count(), 0, 'owners are changed by owners');
    const dialog = await choose(page, 'Grace', 'Remove from team');
    await dialog.getByLabel('Laptop').check();
    await assertSoundDashboard(page, `team-remove-${nameOfLook(phone)}`);
    await dialog.getByRole('button', { name: 'Remove member' }).click();
    await dialog.waitFor({ state: 'detached' });
    await rowOf(page, 'Grace').waitFor({ state: 'detached' });
    assert.deepEqual((await keyNames(sam)).toSorted(), ['Booking', 'Monitor']);
    assert.equal((await grace.get(grace.in('/team/members'))).status, 401, 'signed out: no other team');
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('all keys of a removed member are revoked in one step (§12.12/page-team-members)', async () => {
    const { ada, grace } = await newTeamOfAll();
    for (const name of ['Booking', 'Laptop']) await newKeyOf(grace, name);
    const { page } = await open(ada, desktop);
    const dialog = await choose(page, 'Grace', 'Remove from team');
    for (const name of ['Booking', 'Laptop']) await dialog.getByLabel(name).check();
    await assertSoundDashboard(page, `team-remove-${nameOfLook(desktop)}`);
    const removed = page.waitForRequest((request) => request.method() === 'DELETE');
    await dialog.getByRole('button', { name: 'Remove member' }).click();
    assert.match((await removed).url(), /members\/usr_\w+\?revoke_keys=true$/);
    await dialog.waitFor({ state: 'detached' });
    await rowOf(page, 'Grace').waitFor({ state: 'detached' });
    assert.deepEqual(await keyNames(ada), []);
    await page.context().close();
  });

  it('a member and a viewer see the members and whom to ask, and can only leave (§12.12/page-permissions)', async () => {
    const { grace, vera } = await newTeamOfAll();
    for (const [member, name] of [
      [grace, 'Grace'],
      [vera, 'Vera'],
    ] as const) {
      const { page, complaints } = await open(member, desktop);
      await page.getByText('ask Ada Example or Sam Example').waitFor();
      assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 1);
      assert.equal(await page.getByRole('button', { name: 'Invite person' }).count(), 0);
      assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
      await menuOf(page, name).click();
      assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Leave team']);
      assert.deepEqual(complaints, []);
      await page.getByRole('menuitem').click();
      await page.getByRole('button', { name: 'Leave team' }).click();
      // The page may go there twice, so a load that another one replaces counts.
      await page.waitForURL((url) => url.pathname === '/sign-in', { waitUntil: 'commit' });
      await page.context().close();
    }
  });
});
