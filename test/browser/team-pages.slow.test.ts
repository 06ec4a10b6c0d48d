import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { phone } from '#test/support/browser/browser.ts';
import { assertSound, givenPages, refusals } from '#test/support/browser/pages.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the page Team in a browser: members, invitations and audit log', () => {
  const service = givenService();
  const { mail: mails, service: mailing } = givenMailService();
  const { open, visit } = givenPages();

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

  async function openMembers(member: TeamMember, opening: Parameters<typeof open>[2] = {}) {
    const page = await open(member, '/team', opening);
    await page.getByRole('row').filter({ hasText: member.email }).waitFor();
    return page;
  }

  const menuOf = (page: Page, name: string) =>
    page.getByRole('button', { name: `Actions for ${name} Example` });
  const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: `${name} Example` });

  async function choose(page: Page, name: string, action: string) {
    await menuOf(page, name).click();
    await page.getByRole('menuitem', { name: action }).click();
    return page.getByRole('dialog');
  }

  async function changeRole(page: Page, name: string, role: string) {
    const dialog = await choose(page, name, 'Change role');
    await dialog.getByLabel(role).check();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await rowOf(page, name).getByText(role).waitFor();
  }

  async function rolesOf(member: TeamMember): Promise<Record<string, string>> {
    const { json } = await member.get(member.in('/team/members'));
    const members = json.members as readonly { readonly name: string; readonly role: string }[];
    return Object.fromEntries(members.map(({ name, role }) => [name.split(' ')[0] ?? '', role]));
  }

  async function newKeysOf(member: TeamMember, names: readonly string[]) {
    for (const name of names) {
      const answer = await member.post(member.in('/keys'), { name, permissions: ['messages:send'] });
      assert.equal(answer.status, 201, answer.text);
    }
  }
  async function keyNames(member: TeamMember): Promise<string[]> {
    const { json } = await member.get(member.in('/keys'));
    const keys = json.keys as readonly { readonly name: string }[];
    return keys.map(({ name }) => name).filter((name) => name !== 'test');
  }

  it('an owner changes roles, makes and unmakes owners, and leaves', async () => {
    const { ada, grace, vera } = await newTeamOfAll();
    await newKeysOf(grace, ['Of Grace']);
    // Requests in progress are refused after the person has left the team.
    const page = await openMembers(ada, { provokes: refusals });
    assert.equal(await menuOf(page, 'Ada').count(), 0, 'the only owner neither leaves nor changes role');
    assert.match(await page.innerText('main'), /You are the only owner/);

    const lower = await choose(page, 'Grace', 'Change role');
    await lower.getByLabel('Viewer').check();
    assert.match(await lower.innerText(), /are revoked: “Of Grace”/);
    await assertSound(page, 'dashboard-team-role');
    await lower.getByRole('button', { name: 'Change role' }).click();
    await rowOf(page, 'Grace').getByText('Viewer').waitFor();
    assert.deepEqual(await keyNames(ada), []);

    await changeRole(page, 'Vera', 'Owner');
    assert.deepEqual(await rolesOf(ada), { Ada: 'owner', Sam: 'admin', Grace: 'viewer', Vera: 'owner' });
    await changeRole(page, 'Vera', 'Member');
    await changeRole(page, 'Vera', 'Owner');
    const leave = await choose(page, 'Ada', 'Leave team');
    await assertSound(page, 'dashboard-team-leave');
    await leave.getByRole('button', { name: 'Leave team' }).click();
    // Two navigations lead to the sign-in page, and one aborts the other. The form is shown after both navigations.
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/sign-in');
    assert.deepEqual(await rolesOf(vera), { Sam: 'admin', Grace: 'viewer', Vera: 'owner' });
  });

  for (const [revoked, kept] of [
    [['Laptop'], ['Booking', 'Monitor']],
    [['Booking', 'Laptop', 'Monitor'], []],
  ] as const) {
    it(`the dialog for removing a member asks an admin which of the member’s keys to revoke: ${revoked.length} of three`, async () => {
      const { sam, grace } = await newTeamOfAll();
      await newKeysOf(grace, ['Booking', 'Laptop', 'Monitor']);
      const page = await openMembers(sam, { look: phone });
      assert.equal(await menuOf(page, 'Ada').count(), 0, 'owners are changed by owners');
      const dialog = await choose(page, 'Grace', 'Remove from team');
      for (const name of revoked) await dialog.getByLabel(name).check();
      await assertSound(page, 'dashboard-team-remove');
      const removed = page.waitForRequest(
        (request) => request.method() === 'DELETE' && request.url().includes('/members/'),
      );
      await dialog.getByRole('button', { name: 'Remove member' }).click();
      assert.equal((await removed).url().endsWith('?revoke_keys=true'), kept.length === 0, 'in one step');
      await dialog.waitFor({ state: 'detached' });
      await rowOf(page, 'Grace').waitFor({ state: 'detached' });
      assert.deepEqual((await keyNames(sam)).toSorted(), kept);
      assert.equal((await grace.get(grace.in('/team/members'))).status, 401, 'signed out: no other team');
    });
  }

  it('a member sees the list of members and whom to ask for changes, and can only leave the team', async () => {
    const { grace } = await newTeamOfAll();
    const page = await openMembers(grace, { provokes: refusals });
    await page.getByText('ask Ada Example or Sam Example').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 1);
    await menuOf(page, 'Grace').click();
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Leave team']);
    await page.getByRole('menuitem').click();
    await page.getByRole('button', { name: 'Leave team' }).click();
    // The page may go to the sign-in twice. The second load ends the first one, and a wait for its address with it.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  async function invite(page: Page, email: string, role: string) {
    await page.getByRole('button', { name: 'Invite person' }).click();
    const dialog = page.getByRole('dialog', { name: /Invite a person|Pass this link on|Revoke the/ });
    await dialog.getByLabel('E-mail address').fill(email);
    await dialog.getByLabel(role).check();
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    return dialog;
  }

  it('an admin mails an invitation, sends it again, and its link lets the person join', async () => {
    const team = await mailing.newTeam();
    await newMember(mailing, team, 'owner');
    const sam = await newMember(mailing, team, 'admin', { name: 'Sam Example' });
    const page = await open(sam, '/team/invitations');
    const email = 'grace@example.com';
    const dialog = await invite(page, email, 'Member');
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: email });
    const { json } = await sam.get(sam.in('/team/invitations'));
    const [listed] = json.invitations as readonly { readonly expires_at: string }[];
    assert.equal(await row.locator('time').getAttribute('datetime'), listed?.expires_at);
    const first = await mails.next();
    assert.deepEqual(first.to, [email]);

    await row.getByRole('button', { name: `Send again to ${email}` }).click();
    const second = await mails.next();
    const linkOf = (text: string) => /http\S+\/invite\/\S+/.exec(text)?.[0] ?? '';
    const guest = await visit(linkOf(second.text));
    const before = await fetch(linkOf(first.text), { headers: { accept: 'text/html' } });
    assert.equal(before.status, 404, 'the link before ends');
    const shown = await guest.innerText('body');
    assert.ok(shown.includes(`Sam Example (${sam.email}) invites ${email} to the team Example team`), shown);
    assert.match(shown, /As member you may read and answer texts/);
    await assertSound(guest, 'people-invited-by-mail');
    await guest.getByLabel('Your name').fill('Grace Example');
    await guest.getByRole('button', { name: 'Join' }).click();
    await guest.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.goto(`${mailing.baseUrl}/teams/${team.publicId}/team`);
    await rowOf(page, 'Grace').waitFor();
  });

  it("without mail an invitation's link is shown once for copying, and the button Copy link makes a new link", async () => {
    const ada = await newMember(service, await service.newTeam(), 'owner', { name: 'Ada Example' });
    const page = await open(ada, '/team/invitations', { look: phone });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.baseUrl });
    const email = 'vera@example.com';
    const dialog = await invite(page, email, 'Viewer');
    const passOn = dialog.getByRole('heading', { name: 'Pass this link on' });
    await passOn.waitFor();
    const link = await dialog.locator('pre').innerText();
    await dialog.getByRole('button', { name: 'Copy the link' }).click();
    await dialog.getByText('Copied').waitFor();
    assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), link);
    await page.keyboard.press('Escape');
    assert.equal(await dialog.locator('pre').innerText(), link, 'kept until a button closes it');
    await assertSound(page, 'dashboard-invitations-link');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(link), 'shown once');

    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByText('Not mailed').waitFor();
    await row.getByRole('button', { name: `Copy link for ${email}` }).click();
    await passOn.waitFor();
    assert.notEqual(await dialog.locator('pre').innerText(), link);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click();
    await dialog.getByRole('button', { name: 'Revoke invitation' }).click();
    await page.getByRole('heading', { name: 'No open invitations' }).waitFor();
  });

  it('an invitation beyond the mail limit of its address is refused with the time of the next try', async () => {
    const ada = await newMember(mailing, await mailing.newTeam(), 'owner', { name: 'Ada Example' });
    const body = { email: 'often@example.com', role: 'viewer' };
    let { json } = await ada.post(ada.in('/team/members/invite'), body);
    for (let sent = 1; sent < 5; sent += 1)
      ({ json } = await ada.post(ada.in(`/team/invitations/${json.invitation_id}/resend`)));
    const page = await open(ada, '/team/invitations', { look: phone, provokes: refusals });
    await page.getByRole('button', { name: 'Send again to often@example.com' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText(/You can try again in \d+ min/).waitFor();
    await assertSound(page, 'dashboard-invitations-throttled');
  });

  it('the audit log shows entries as sentences with names, origin and time, marks refusals, and loads more on demand', async () => {
    const { team, ada, grace, vera } = await newTeamOfAll();
    for (let nth = 1; nth <= 50; nth += 1) await ada.put(ada.in('/team'), { name: `Example ${nth}` });
    const number = await connectNumber(service, team);
    const made = await ada.post(ada.in('/keys'), { name: 'Booking', permissions: ['messages:send'] });
    const steps = [
      () => ada.put(ada.in(`/numbers/${number.numberId}`), { status: 'paused' }),
      () => ada.put(ada.in(`/numbers/${number.numberId}`), { status: 'active' }),
      () => ada.put(ada.in(`/team/members/${grace.memberId}/role`), { role: 'admin' }),
      () => ada.delete(ada.in(`/keys/${made.json.id}`)),
      () => ada.post(ada.in('/team/members/invite'), { email: 'lin@example.com', role: 'viewer' }),
      () => ada.delete(ada.in(`/team/members/${grace.memberId}`)),
    ];
    for (const step of steps) {
      const { status, text } = await step();
      assert.ok(status < 300, text);
    }
    const refused = await vera.post(vera.in('/keys'), { name: 'No', permissions: ['messages:read'] });
    assert.equal(refused.status, 403);

    const page = await open(ada, '/team/audit');
    // The test waits for a name, because the names of members are read after the entries.
    await page.getByText('Vera Example tried to create an API key').waitFor();
    const digits = number.phoneNumber.slice(2);
    const shown = `+1 ${digits.slice(0, 3)} ${digits.slice(3, 6)} ${digits.slice(6)}`;
    const entries = await page.getByRole('main').getByRole('listitem').allInnerTexts();
    for (const sentence of [
      `Ada Example paused the number ${shown}`,
      `Ada Example resumed the number ${shown}`,
      `Ada Example changed the role of ${grace.email} from member to admin`,
      'Ada Example revoked the API key “Booking”',
      'Ada Example invited lin@example.com as viewer',
      `Ada Example removed ${grace.email} from the team`,
      'Vera Example tried to create an API key',
    ]) {
      const entry = entries.find((text) => text.replaceAll(/\s+/g, ' ').startsWith(sentence));
      assert.ok(entry, `${sentence} in\n${entries.join('\n')}`);
      assert.equal(entry.includes('Refused: not permitted'), sentence.includes('tried'), entry);
      assert.match(entry, /from (127\.0\.0\.1|::1)/);
    }
    await assertSound(page, 'dashboard-audit');
    const oldest = page.getByText('created the team “Example team”');
    assert.equal(await oldest.count(), 0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await oldest.waitFor();
    assert.equal(await page.getByRole('button', { name: 'Load more' }).count(), 0);
  });
});
