import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GivenRole } from '#contract/permissions.ts';
import { checkPassword } from '#server/accounts/account/password.ts';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/change-plan.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { assertRefused, invite as inviteTo } from '#test/support/people/invite.ts';
import { newEmail, newMember, newPerson, PageClient } from '#test/support/people/people.ts';
import { storedAccount, storedSessionMethods } from '#test/support/people/stored-accounts.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const dayMs = 24 * 3_600_000;

describe('acceptance of an invitation (specification section 12.4)', () => {
  const { service, team } = givenTeamBesideCanary();
  const visitor = given(() => new PageClient(service.baseUrl, ''));

  /** Invites the address. @returns the path below /app at which the dashboard accepts the invitation */
  async function invite(email: string, to: TestTeam = team, role: GivenRole = 'member'): Promise<string> {
    return `/app/invitations/${(await inviteTo(service, to, email, role)).accept_url.split('/').at(-1)}`;
  }

  /** Makes an owner link. @returns the path below /app at which the dashboard accepts it */
  async function ownerLink(to: TestTeam, email?: string): Promise<string> {
    const url = await newOwnerLink(service, to, email);
    return `/app/invitations/${url.split('/').at(-1)}`;
  }

  const signedIn = (answer: ApiAnswer) =>
    new PageClient(service.baseUrl, (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '');
  const members = async (of: TestTeam) =>
    (await of.api.get('/v1/team/members')).json.members as {
      id: string;
      email: string;
      role: string;
      name: string;
    }[];

  describe('an invitation to an address without an account', () => {
    it('opening an invitation shows the fields that it needs and changes nothing (§12.4/invitation-links)', async () => {
      const email = newEmail();
      const link = await invite(email, team, 'admin');
      for (let n = 0; n < 3; n += 1) {
        const answer = await visitor.get(link);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(answer.json, {
          team_name: 'Example team',
          email,
          role: 'admin',
          expires_at: answer.json.expires_at,
          signed_in_as: '',
          needs: 'name',
        });
      }
    });

    it('accepting an invitation makes account, membership and session at once (§12.1/account)', async () => {
      const link = await invite('Ada@Example.com', team, 'viewer');
      const answer = await visitor.post(link, { name: ' Ada Example ', password: 'correct horse battery' });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(answer.json, {
        team_id: team.publicId,
        member_id: answer.json.member_id,
        role: 'viewer',
      });
      const ada = signedIn(answer);
      const found = (await members(team)).find(({ id }) => id === answer.json.member_id);
      assert.deepEqual(
        [found?.email, found?.name, found?.role],
        ['Ada@Example.com', 'Ada Example', 'viewer'],
      );
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
      for (const given of [{ name: 'Bob' }, { name: 'Bob', password: '' }]) {
        const email = newEmail();
        assert.equal((await visitor.post(await invite(email), given)).status, 201);
        assert.equal((await storedAccount(service, email)).passwordHash, null);
      }
    });

    it('an invalid name or password is refused with its param, and the invitation stays valid', async () => {
      const link = await invite(newEmail());
      const wrong: [unknown, string][] = [
        [{}, 'name'],
        [{ name: ' ' }, 'name'],
        [{ name: 'a'.repeat(101) }, 'name'],
        [{ name: 'a\u0000' }, 'name'],
        [{ name: 5 }, 'name'],
        [{ name: 'Bob', password: 'short' }, 'password'],
        [{ name: 'Bob', password: 'a'.repeat(201) }, 'password'],
        [{ name: 'Bob', role: 'owner' }, 'role'],
      ];
      for (const [given, param] of wrong) {
        assertRefused(await visitor.post(link, given), 400, 'invalid_request', param);
      }
      assert.equal((await visitor.post(link, { name: 'Bob' })).status, 201);
    });

    it('an invitation is accepted for its own address only', async () => {
      const email = newEmail();
      const answer = await visitor.post(await invite(email), { email: 'other@example.com', name: 'Bob' });
      assert.equal(answer.status, 201);
      assert.ok((await members(team)).some((member) => member.email === email));
      assert.ok(!(await members(team)).some((member) => member.email === 'other@example.com'));
    });

    it('a person who is signed in to another account sees that address, and may still create the invited account', async () => {
      const bob = await newPerson(service);
      const email = newEmail();
      const link = await invite(email);
      const { json } = await bob.get(link);
      assert.deepEqual([json.signed_in_as, json.needs], [bob.email, 'name']);
      const answer = await bob.post(link, { name: 'Ada' });
      assert.equal(answer.status, 201);
      assert.ok((await members(team)).some((member) => member.email === email));
      assert.ok(!(await members(team)).some((member) => member.email === bob.email));
    });

    it('20 simultaneous acceptances of one invitation make one member (§3.5/lifetime)', async () => {
      const email = newEmail();
      const link = await invite(email);
      const all = Array.from({ length: 20 }, (_, n) => visitor.post(link, { name: `Bob ${n}` }));
      const answers = await Promise.all(all);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [
        201,
        ...Array.from({ length: 19 }, () => 404),
      ]);
      assert.equal((await members(team)).filter((member) => member.email === email).length, 1);
    });

    it('one person who accepts links of two teams at once gets one account, and the second answer asks for a sign-in', async () => {
      const email = newEmail();
      const links = [await invite(email), await invite(email, await service.newTeam())];
      const answers = await Promise.all(links.map((link) => visitor.post(link, { name: 'Bob' })));
      const statuses = answers.map(({ status }) => status).sort();
      assert.ok(statuses[0] === 201 && [401, 409].includes(statuses[1] ?? 0), String(statuses));
      assert.ok(await storedAccount(service, email), 'and there is one account');
    });
  });

  describe('an invitation to an address with an account', () => {
    it('an acceptance joins the signed-in account to the team, without a second session', async () => {
      const bob = await newPerson(service);
      const link = await invite(bob.email.toUpperCase());
      assert.equal((await bob.get(link)).json.needs, 'nothing');
      const answer = await bob.post(link, {});
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.headers.get('set-cookie'), null);
      assert.equal((await bob.get(`/app/teams/${team.publicId}/team`)).status, 200);
      assert.equal((await bob.post(link, {})).status, 404);
    });

    it('an acceptance without a session is 401, and by another account 403', async () => {
      const bob = await newPerson(service);
      const eve = await newPerson(service);
      const link = await invite(bob.email);
      assert.deepEqual(field((await visitor.get(link)).json, 'needs'), 'sign_in');
      assert.deepEqual(field((await eve.get(link)).json, 'signed_in_as'), eve.email);
      const refused = await visitor.post(link, { name: 'Not Bob', password: 'correct horse battery' });
      assertRefused(refused, 401, 'unauthorized');
      assertRefused(await eve.post(link, { name: 'Not Bob' }), 403, 'forbidden');
      assert.equal((await bob.post(link, {})).status, 201);
    });

    it('an acceptance with an ended session is 401, as without a session', async () => {
      const bob = await newPerson(service);
      const link = await invite(bob.email);
      assert.equal((await bob.post('/app/account/sign-out-everywhere')).status, 200);
      assert.equal((await bob.get(link)).json.needs, 'sign_in');
      assertRefused(await bob.post(link, {}), 401, 'unauthorized');
    });
  });

  describe('the owner link of a team without an owner', () => {
    it('a person who opens an owner link without an address enters address and name, and becomes the owner (§12.1/owner-links)', async () => {
      const here = await service.newTeam();
      const link = await ownerLink(here);
      const opened = (await visitor.get(link)).json;
      assert.deepEqual([opened.email, opened.role, opened.needs], ['', 'owner', 'email_and_name']);
      for (const [given, param] of [
        [{ name: 'Ada' }, 'email'],
        [{ name: 'Ada', email: 'ada' }, 'email'],
        [{ email: 'ada.first@example.com' }, 'name'],
      ] as const) {
        assertRefused(await visitor.post(link, given), 400, 'invalid_request', param);
      }
      const answer = await visitor.post(link, { name: 'Ada', email: 'ada.first@example.com' });
      assert.deepEqual([answer.status, answer.json.role], [201, 'owner']);
      const ada = signedIn(answer);
      const renamed = await ada.put(`/app/teams/${here.publicId}/team`, { name: 'Ada Ltd' });
      assert.equal(renamed.json.name, 'Ada Ltd');
      assertRefused(await visitor.get(link), 404, 'not_found');
    });

    it('a person with an account signs in before accepting an owner link without an address', async () => {
      const here = await service.newTeam();
      const bob = await newPerson(service);
      const link = await ownerLink(here);
      const given = { name: 'Not Bob', email: bob.email.toUpperCase() };
      assertRefused(await visitor.post(link, given), 409, 'conflict', 'email');
      assert.equal((await bob.get(link)).json.needs, 'nothing');
      assert.equal((await bob.post(link, {})).json.role, 'owner');
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
      const answer = await bob.post(link, {});
      assert.deepEqual(
        [answer.status, answer.json.member_id, answer.json.role],
        [201, bob.memberId, 'owner'],
      );
    });

    it('an owner link ends when a further one is made and once the team has an owner', async () => {
      const here = await service.newTeam();
      const links = [await ownerLink(here), await ownerLink(here, newEmail()), await ownerLink(here)];
      const open = await Promise.all(links.map(async (link) => (await visitor.get(link)).status));
      assert.deepEqual(open, [404, 404, 200]);
      await newMember(service, here, 'owner');
      assertRefused(await visitor.post(links[2] ?? '', { name: 'Ada', email: newEmail() }), 404, 'not_found');
    });

    it('accepting an owner link revokes the other invitation of its address, so that a person takes one seat', async () => {
      const here = await service.newTeam();
      const email = newEmail();
      const link = await ownerLink(here);
      const other = await invite(email, here);
      assert.equal((await visitor.post(link, { name: 'Ada', email })).status, 201);
      assertRefused(await visitor.get(other), 404, 'not_found');
    });
  });

  describe('an invitation that ended', () => {
    it('a used, revoked, replaced or expired invitation is 404 with the reason, and an unknown link is 404 without a reason (§3.5/lifetime)', async () => {
      const wanted = await visitor.get(`/app/invitations/${'x'.repeat(43)}`);
      assertRefused(wanted, 404, 'not_found');
      assert.match(wanted.text, /There is no such invitation/);
      const ada = await newMember(service, team, 'owner');
      const [revoked, again] = [newEmail(), newEmail()];
      const [used, revokedLink, old, expired] = [
        await invite(newEmail()),
        await invite(revoked),
        await invite(again),
        await invite(newEmail(), await service.newTeam()),
      ];
      await visitor.post(used, { name: 'Bob' });
      const list = (await team.api.get('/v1/team/invitations')).json.invitations as {
        email: string;
        invitation_id: string;
      }[];
      const idOf = (email: string) => list.find((one) => one.email === email)?.invitation_id;
      await team.api.delete(`/v1/team/invitations/${idOf(revoked)}`);
      await ada.post(ada.in(`/team/invitations/${idOf(again)}/resend`));
      service.clock.advance(7 * dayMs - 60_000);
      assert.equal((await visitor.get(expired)).status, 200);
      const replaced = await visitor.get(old);
      assertRefused(replaced, 404, 'not_found');
      assert.match(replaced.text, /A newer invitation has replaced this one. Open the newest link/);
      service.clock.advance(60_000);
      const ends = [
        [used, /was used. You have joined already\? Sign in/],
        [revokedLink, /was revoked. Ask an owner or an admin/],
        [expired, /is older than 7 days. Ask an owner or an admin/],
        // The invitation that replaced it has expired, too.
        [old, /was revoked. Ask an owner or an admin/],
      ] as const;
      for (const [link, end] of ends) {
        for (const answer of [await visitor.get(link), await visitor.post(link, { name: 'Bob' })]) {
          assertRefused(answer, 404, 'not_found');
          assert.match(answer.text, end);
        }
      }
    });
  });

  it('accepting an invitation requires an Origin of this server', async () => {
    const link = await invite(newEmail());
    for (const site of ['cross-site', 'same-site', 'none']) {
      const answer = await visitor.post(link, { name: 'Bob' }, { 'sec-fetch-site': site });
      assertRefused(answer, 403, 'forbidden');
    }
    assert.equal((await visitor.post(link, { name: 'Bob' })).status, 201);
  });
});
