import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  desktop,
  keepPicture,
  type Look,
  looks,
  newPage,
  phone,
  startBrowser,
} from '#test/support/browser/browser.ts';
import {
  assertSoundDashboard,
  nameOfLook,
  openWatchedDashboard,
} from '#test/support/browser/dashboard-page.ts';
import { complaintsAbout } from '#test/support/browser/page-checks.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the invitations on the page Team in a browser (specification section 12.12)', () => {
  const { mail: mails, service: mailing } = givenMailService();
  const silent = givenService();
  const browser = given(startBrowser);

  async function open(member: TeamMember, look: Look) {
    const { page, complaints } = await openWatchedDashboard(browser, member, '/team/invitations', look);
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    return { page, complaints };
  }

  async function invite(page: Page, email: string, role: string) {
    await page.getByRole('button', { name: 'Invite person' }).click();
    const dialog = page.getByRole('dialog', { name: /Invite a person|Pass this link on|Revoke the/ });
    await dialog.getByLabel('E-mail address').fill(email);
    await dialog.getByLabel(role).check();
    await dialog.getByRole('button', { name: 'Invite', exact: true }).click();
    return dialog;
  }

  for (const look of looks) {
    it(`${nameOfLook(look)}: an admin mails an invitation, sends it again, and its link lets the person join (§12.12/page-team-invitations, §12.4/who-invites)`, async () => {
      const team = await mailing.newTeam();
      await newMember(mailing, team, 'owner');
      const sam = await newMember(mailing, team, 'admin', { name: 'Sam Example' });
      const { page, complaints } = await open(sam, look);
      await page.getByRole('heading', { name: 'No open invitations' }).waitFor();
      const email = `grace${look.width}@example.com`;
      const dialog = await invite(page, email, 'Member');
      await dialog.waitFor({ state: 'detached' });
      const row = page.getByRole('row').filter({ hasText: email });
      const { json } = await sam.get(sam.in('/team/invitations'));
      const [listed] = json.invitations as readonly { readonly expires_at: string }[];
      assert.equal(await row.locator('time').getAttribute('datetime'), listed?.expires_at);
      await assertSoundDashboard(page, `invitations-full-${nameOfLook(look)}`);
      const first = await mails.next();
      assert.deepEqual(first.to, [email]);
      assert.match(first.text, /Sam Example .* invites you to the team Example team, with the role member/);
      assert.match(first.text, /Ownline sends and receives iMessages/);

      await row.getByRole('button', { name: `Send again to ${email}` }).click();
      const second = await mails.next();
      const linkOf = (text: string) => /http\S+\/invite\/\S+/.exec(text)?.[0] ?? '';
      const guest = await newPage(browser, look);
      const guestComplaints = complaintsAbout(guest, mailing.baseUrl);
      assert.equal((await guest.goto(linkOf(first.text)))?.status(), 404, 'the link before ends');
      await guest.goto(linkOf(second.text));
      const shown = await guest.innerText('body');
      assert.match(
        shown,
        new RegExp(`Sam Example \\(${sam.email}\\) invites ${email} to the team Example team`),
      );
      assert.match(shown, /As member you may send and read messages/);
      assert.match(shown, /Ownline sends and receives iMessages over the team’s own iPhones/);
      await keepPicture(guest, `people-invited-by-mail-${nameOfLook(look)}`);
      await guest.getByLabel('Your name').fill('Grace Example');
      await guest.getByRole('button', { name: 'Join' }).click();
      await guest.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.goto(`${mailing.baseUrl}/teams/${team.publicId}/team`);
      await page.getByRole('row').filter({ hasText: 'Grace Example' }).waitFor();
      assert.deepEqual([complaints, guestComplaints], [[], []]);
      await guest.context().close();
      await page.context().close();
    });

    it(`${nameOfLook(look)}: without mail an invitation's link is shown once and can be copied, and Copy link makes a new one (§12.12/page-team-invitations)`, async () => {
      const team = await silent.newTeam();
      const ada = await newMember(silent, team, 'owner', { name: 'Ada Example' });
      const { page, complaints } = await open(ada, look);
      await page
        .context()
        .grantPermissions(['clipboard-read', 'clipboard-write'], { origin: silent.baseUrl });
      const email = `vera${look.width}@example.com`;
      const dialog = await invite(page, email, 'Viewer');
      await dialog.getByRole('heading', { name: 'Pass this link on' }).waitFor();
      const link = await dialog.locator('pre').innerText();
      await dialog.getByRole('button', { name: 'Copy the link' }).click();
      await dialog.getByText('Copied').waitFor();
      assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), link);
      await page.keyboard.press('Escape');
      assert.equal(await dialog.locator('pre').innerText(), link, 'kept until a button closes it');
      await assertSoundDashboard(page, `invitations-link-${nameOfLook(look)}`);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.ok(!(await page.content()).includes(link), 'shown once');

      const row = page.getByRole('row').filter({ hasText: email });
      await row.getByText('Not mailed').waitFor();
      await assertSoundDashboard(page, `invitations-not-mailed-${nameOfLook(look)}`);
      await row.getByRole('button', { name: `Copy link for ${email}` }).click();
      await dialog.getByRole('heading', { name: 'Pass this link on' }).waitFor();
      const newest = await dialog.locator('pre').innerText();
      assert.notEqual(newest, link);
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });

      const guest = await newPage(browser, look);
      assert.equal((await guest.goto(newest))?.status(), 200);
      assert.equal((await guest.goto(link))?.status(), 404, 'the link before ends');
      await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click();
      await dialog.getByRole('button', { name: 'Revoke invitation' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'No open invitations' }).waitFor();
      assert.equal((await guest.goto(newest))?.status(), 404);
      assert.deepEqual(complaints, []);
      await guest.context().close();
      await page.context().close();
    });
  }

  it('too many mails to an address are refused with the time of the next try (§12.12/page-errors)', async () => {
    const team = await mailing.newTeam();
    const ada = await newMember(mailing, team, 'owner', { name: 'Ada Example' });
    const body = { email: 'often@example.com', role: 'viewer' };
    let { json } = await ada.post(ada.in('/team/members/invite'), body);
    for (let sent = 1; sent < 5; sent += 1) {
      const again = await ada.post(ada.in(`/team/invitations/${json.invitation_id}/resend`));
      assert.equal(again.status, 201, again.text);
      json = again.json;
    }
    const { page } = await open(ada, phone);
    await page.getByRole('button', { name: 'Send again to often@example.com' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText(/You can try again in \d+ min/).waitFor();
    await assertSoundDashboard(page, `invitations-throttled-${nameOfLook(phone)}`);
    await page.context().close();
  });

  it('inviting a member is refused at the field, and a full plan is explained in the dialog (§12.12/page-errors)', async () => {
    const team = await silent.newTeam({ plan: 'free' });
    const ada = await newMember(silent, team, 'owner', { name: 'Ada Example' });
    const { page } = await open(ada, phone);
    const known = await invite(page, ada.email, 'Member');
    await known.getByText('is a member already').waitFor();
    assert.equal(await known.getByLabel('E-mail address').getAttribute('aria-invalid'), 'true');
    assert.equal(await known.getByLabel('E-mail address').inputValue(), ada.email);
    await known.getByRole('button', { name: 'Cancel' }).click();
    await known.waitFor({ state: 'detached' });
    for (let seats = 0; ; seats += 1) {
      assert.ok(seats < 20, 'the plan free has few members');
      const email = `guest${seats}@example.com`;
      const { status } = await ada.post(ada.in('/team/members/invite'), { email, role: 'viewer' });
      if (status === 402) break;
    }
    const full = await invite(page, 'one-too-many@example.com', 'Member');
    const note = full.getByRole('alert');
    await note.waitFor();
    assert.match(await note.innerText(), /member/);
    await assertSoundDashboard(page, `invitations-limit-${nameOfLook(phone)}`);
    await page.context().close();
  });

  it('a viewer sees invitations without buttons, and an empty list passes the page checks (§12.12/page-permissions, §12.12/page-sound)', async () => {
    const team = await silent.newTeam();
    const ada = await newMember(silent, team, 'owner', { name: 'Ada Example' });
    const vera = await newMember(silent, team, 'viewer');
    for (const look of looks) {
      const { page, complaints } = await open(ada, look);
      await page.getByRole('heading', { name: 'No open invitations' }).waitFor();
      await assertSoundDashboard(page, `invitations-empty-${nameOfLook(look)}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
    await ada.post(ada.in('/team/members/invite'), { email: 'grace@example.com', role: 'viewer' });
    const { page } = await open(vera, desktop);
    await page.getByRole('row').filter({ hasText: 'grace@example.com' }).waitFor();
    assert.equal(await page.getByRole('main').getByRole('button').count(), 0);
    await page.context().close();
  });
});
