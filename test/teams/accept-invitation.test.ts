import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GivenRole } from '#contract/permissions.ts';
import { checkPassword } from '#server/accounts/account/password.ts';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser, type BrowserAnswer } from '#test/support/browser/browser-client.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { newEmail, newMember, newPerson, type Person } from '#test/support/people/people.ts';
import { storedAccount, storedSessionMethods } from '#test/support/people/stored-accounts.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const dayMs = 24 * 3_600_000;

describe('acceptance of an invitation (specification section 12.4)', () => {
  const { service, team } = givenTeamBesideCanary();

  /** Invites the address. @returns the path of the page that accepts the invitation */
  const invite = async (email: string, to: TestTeam = team, role: GivenRole = 'member') =>
    new URL((await inviteTo(service, to, email, role)).accept_url).pathname;
  /** Makes an owner link. @returns the path of the page that accepts it */
  const ownerLink = async (to: TestTeam, email?: string) =>
    new URL(await newOwnerLink(service, to, email)).pathname;
  /** A browser that is signed in as the person, if there is one. */
  const browserOf = (person?: Person) => new Browser(service.baseUrl, { cookie: person?.cookie ?? '' });
  const accept = (link: string, form: Readonly<Record<string, string>>, person?: Person) =>
    browserOf(person).submit(link, form);
  const statusOf = async (...accepted: Parameters<typeof accept>) => (await accept(...accepted)).status;
  const assertAtFault = ({ status, text }: BrowserAnswer, param: string, expected = 400) => {
    assert.equal(status, expected, text);
    assert.match(text, new RegExp(`name="${param}"[^>]* aria-invalid="true"`));
  };
  const members = async (of: TestTeam) =>
    (await of.api.get('/v1/team/members')).json.members as {
      id: string;
      email: string;
      role: string;
      name: string;
    }[];
  const isMember = async (email: string) => (await members(team)).some((member) => member.email === email);

  describe('an invitation to an address without an account', () => {
    it('accepting an invitation makes account, membership and session at once (§12.1/account)', async () => {
      const link = await invite('Ada@Example.com', team, 'viewer');
      const ada = browserOf();
      const answer = await ada.submit(link, { name: ' Ada Example ', password: 'correct horse battery' });
      assert.equal(answer.status, 303, answer.text);
      const found = (await members(team)).find(({ email }) => email === 'Ada@Example.com');
      assert.deepEqual([found?.name, found?.role], ['Ada Example', 'viewer']);
      assert.equal((await ada.get(`/app/teams/${team.publicId}/team`)).status, 200);
      const account = await storedAccount(service, 'Ada@Example.com');
      assert.deepEqual(await storedSessionMethods(service, account.id), ['invitation']);
      assert.ok(await checkPassword('correct horse battery', account.passwordHash ?? undefined));
      const noted = (await storedAuditEntries(service)).filter(
        ({ actorName }) => actorName === 'Ada@Example.com',
      );
      assert.deepEqual(
        noted.map(({ action }) => action),
        ['account.made', 'member.joined', 'account.signed_in'],
      );
    });

    it('an invitation is accepted without a password, and an empty password counts as none', async () => {
      for (const form of [{ name: 'Bob' }, { name: 'Bob', password: '' }]) {
        const email = newEmail();
        assert.equal(await statusOf(await invite(email), form), 303);
        assert.equal((await storedAccount(service, email)).passwordHash, null);
      }
    });

    it('an invalid name or password is refused at its field, and the invitation stays valid', async () => {
      const link = await invite(newEmail());
      const wrong: [Readonly<Record<string, string>>, string][] = [
        [{}, 'name'],
        [{ name: ' ' }, 'name'],
        [{ name: 'a'.repeat(101) }, 'name'],
        [{ name: 'a\u0000' }, 'name'],
        [{ name: 'Bob', password: 'short' }, 'password'],
        [{ name: 'Bob', password: 'a'.repeat(201) }, 'password'],
      ];
      for (const [form, param] of wrong) assertAtFault(await accept(link, form), param);
      assert.equal(await statusOf(link, { name: 'Bob' }), 303);
    });

    it('an invitation is accepted for its own address only', async () => {
      const email = newEmail();
      assert.equal(await statusOf(await invite(email), { email: 'other@example.com', name: 'Bob' }), 303);
      assert.deepEqual([await isMember(email), await isMember('other@example.com')], [true, false]);
    });

    it('a person who is signed in to another account sees that address, and may still create the invited account', async () => {
      const bob = await newPerson(service);
      const email = newEmail();
      const link = await invite(email);
      assert.ok((await browserOf(bob).open(link)).text.includes(`You are signed in as ${bob.email} here.`));
      assert.equal(await statusOf(link, { name: 'Ada' }, bob), 303);
      assert.deepEqual([await isMember(email), await isMember(bob.email)], [true, false]);
    });

    it('20 simultaneous acceptances of one invitation make one member (§3.5/lifetime)', async () => {
      const email = newEmail();
      const link = await invite(email);
      const all = Array.from({ length: 20 }, (_, n) => statusOf(link, { name: `Bob ${n}` }));
      assert.deepEqual((await Promise.all(all)).sort(), [303, ...Array.from({ length: 19 }, () => 404)]);
      assert.equal((await members(team)).filter((member) => member.email === email).length, 1);
    });

    it('one person who accepts links of two teams at once gets one account, and the second answer asks for a sign-in', async () => {
      const email = newEmail();
      const links = [await invite(email), await invite(email, await service.newTeam())];
      const statuses = (await Promise.all(links.map((link) => statusOf(link, { name: 'Bob' })))).sort();
      assert.ok(statuses[0] === 303 && [401, 409].includes(statuses[1] ?? 0), String(statuses));
      assert.ok(await storedAccount(service, email), 'and there is one account');
    });
  });

  describe('an invitation to an address with an account', () => {
    it('an acceptance joins the signed-in account to the team, without a second session', async () => {
      const bob = await newPerson(service);
      const link = await invite(bob.email.toUpperCase());
      const answer = await accept(link, {}, bob);
      assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [303, null], answer.text);
      assert.equal((await bob.get(`/app/teams/${team.publicId}/team`)).status, 200);
      assert.equal(await statusOf(link, {}, bob), 404);
    });

    it('an acceptance with an ended session is 401, as without a session', async () => {
      const bob = await newPerson(service);
      const link = await invite(bob.email);
      assert.equal((await bob.post('/app/account/sign-out-everywhere')).status, 200);
      assert.equal(await statusOf(link, {}, bob), 401);
    });
  });

  describe('the owner link of a team without an owner', () => {
    it('a person who opens an owner link without an address enters address and name, and becomes the owner (§12.1/owner-links)', async () => {
      const here = await service.newTeam();
      const link = await ownerLink(here);
      for (const [form, param] of [
        [{ name: 'Ada' }, 'email'],
        [{ name: 'Ada', email: 'ada' }, 'email'],
        [{ email: 'ada.first@example.com' }, 'name'],
      ] as const) {
        assertAtFault(await accept(link, form), param);
      }
      const ada = browserOf();
      assert.equal((await ada.submit(link, { name: 'Ada', email: 'ada.first@example.com' })).status, 303);
      const renamed = await ada.put(`/app/teams/${here.publicId}/team`, { name: 'Ada Ltd' });
      assert.equal(renamed.json.name, 'Ada Ltd');
      assert.equal((await browserOf().open(link)).status, 404);
    });

    it('a person with an account signs in before accepting an owner link without an address', async () => {
      const here = await service.newTeam();
      const bob = await newPerson(service);
      const link = await ownerLink(here);
      const form = { name: 'Not Bob', email: bob.email.toUpperCase() };
      assertAtFault(await accept(link, form), 'email', 409);
      assert.equal(await statusOf(link, {}, bob), 303);
      assert.deepEqual(
        (await members(here)).map(({ email, role }) => [email, role]),
        [[bob.email, 'owner']],
      );
    });

    it('an owner link makes a member of the team its owner, and keeps the membership', async () => {
      const here = await service.newTeam({ plan: 'free' });
      const bob = await newMember(service, here, 'viewer');
      await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 100 }, operator);
      const link = await ownerLink(here);
      await changePlan(service.runtime, here.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
      assert.equal(await statusOf(link, {}, bob), 303);
      assert.deepEqual(
        (await members(here)).map(({ id, role }) => [id, role]),
        [[bob.memberId, 'owner']],
      );
    });

    it('an owner link ends when a further one is made and once the team has an owner', async () => {
      const here = await service.newTeam();
      const links = [await ownerLink(here), await ownerLink(here, newEmail()), await ownerLink(here)];
      const open = await Promise.all(links.map(async (link) => (await browserOf().open(link)).status));
      assert.deepEqual(open, [404, 404, 200]);
      await newMember(service, here, 'owner');
      assert.equal(await statusOf(links[2] ?? '', { name: 'Ada', email: newEmail() }), 404);
    });

    it('accepting an owner link revokes the other invitation of its address, so that a person takes one seat', async () => {
      const here = await service.newTeam();
      const email = newEmail();
      const link = await ownerLink(here);
      const other = await invite(email, here);
      assert.equal(await statusOf(link, { name: 'Ada', email }), 303);
      assert.equal((await browserOf().open(other)).status, 404);
    });
  });

  it('a used, revoked, replaced or expired invitation is 404 with the reason (§3.5/lifetime)', async () => {
    const ada = await newMember(service, team, 'owner');
    const [revoked, again] = [newEmail(), newEmail()];
    const [used, revokedLink, old, expired] = [
      await invite(newEmail()),
      await invite(revoked),
      await invite(again),
      await invite(newEmail(), await service.newTeam()),
    ];
    await accept(used, { name: 'Bob' });
    const list = (await team.api.get('/v1/team/invitations')).json.invitations as {
      email: string;
      invitation_id: string;
    }[];
    const idOf = (email: string) => list.find((one) => one.email === email)?.invitation_id;
    await team.api.delete(`/v1/team/invitations/${idOf(revoked)}`);
    await ada.post(ada.in(`/team/invitations/${idOf(again)}/resend`));
    service.clock.advance(7 * dayMs - 60_000);
    assert.equal((await browserOf().open(expired)).status, 200);
    const replaced = await browserOf().open(old);
    assert.equal(replaced.status, 404);
    assert.match(replaced.text, /A newer invitation has replaced this one<[\s\S]*Open the newest link/);
    service.clock.advance(60_000);
    const ends = [
      [used, /was used<[\s\S]*You have joined already\? Sign in/],
      [revokedLink, /was revoked<[\s\S]*Ask an owner or an admin/],
      [expired, /is older than 7 days<[\s\S]*Ask an owner or an admin/],
      // The invitation that replaced it has expired, too.
      [old, /was revoked<[\s\S]*Ask an owner or an admin/],
    ] as const;
    for (const [link, end] of ends) {
      for (const answer of [await browserOf().open(link), await accept(link, { name: 'Bob' })]) {
        assert.equal(answer.status, 404);
        assert.match(answer.text, end);
      }
    }
  });
});
