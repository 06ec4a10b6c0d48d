import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desktop, type Look, looks } from '#test/support/browser/browser.ts';
import { givenBrowserTeam } from '#test/support/browser/browser-team.ts';
import {
  assertSoundDashboard,
  nameOfLook,
  openWatchedDashboard,
} from '#test/support/browser/dashboard-page.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

describe('the audit log on the page Team in a browser (specification section 12.12)', () => {
  const { service, browser } = givenBrowserTeam();

  async function open(member: TeamMember, look: Look) {
    const { page, complaints } = await openWatchedDashboard(browser, member, '/team/audit', look);
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    return { page, complaints };
  }

  it('audit entries are sentences with names, origin and time, mark refusals, and are sound in all looks (§12.12/page-team-audit, §12.12/page-sound)', async () => {
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    const ada = await newMember(service, team, 'owner', { name: 'Ada Example' });
    const vera = await newMember(service, team, 'viewer', { name: 'Vera Example' });
    const grace = await newMember(service, team, 'member', { name: 'Grace Example' });
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

    for (const look of looks) {
      const { page, complaints } = await open(ada, look);
      // Wait for a name: the names of members are read after the entries.
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
      await assertSoundDashboard(page, `audit-full-${nameOfLook(look)}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });

  it('the audit log loads older entries on demand (§12.12/page-team-audit)', async () => {
    const team = await service.newTeam();
    const ada = await newMember(service, team, 'owner', { name: 'Ada Example' });
    for (let nth = 1; nth <= 60; nth += 1) await ada.put(ada.in('/team'), { name: `Example ${nth}` });
    const { page, complaints } = await open(ada, desktop);
    await page.getByText('renamed the team to “Example 60”').waitFor();
    assert.equal(await page.getByText('to “Example 5”').count(), 0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('to “Example 5”').waitFor();
    await page.getByText('created the team “Example team”').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Load more' }).count(), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('a member has no link to the audit log, and at its address reads whom to ask (§12.12/page-permissions)', async () => {
    const team = await service.newTeam();
    await newMember(service, team, 'owner', { name: 'Ada Example' });
    const grace = await newMember(service, team, 'member');
    const { page, complaints } = await open(grace, desktop);
    await page.getByText('Ask Ada Example for another role').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
