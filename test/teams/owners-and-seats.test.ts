import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { changePlan } from '#server/teams/team/plans.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { assertRefused, invite as inviteTo } from '#test/support/people/invite.ts';
import { join, newEmail, newMember, type TeamMember } from '#test/support/people/people.ts';
import { storedAccounts } from '#test/support/people/stored-accounts.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

describe('owners, and leaving a team', () => {
  let team: TestTeam;
  let ada: TeamMember;
  const service = givenService();
  given(() => plantCanary(service));

  const begin = async () => {
    team = await service.newTeam();
    ada = await newMember(service, team, 'owner');
  };
  const make = (who: TeamMember, whom: TeamMember) => who.put(who.in(`/team/owners/${whom.memberId}`), {});
  const unmake = (who: TeamMember, whom: TeamMember) => who.delete(who.in(`/team/owners/${whom.memberId}`));
  const leave = (who: TeamMember) => who.post(who.in('/team/leave'));
  const rolesOf = async (of: TestTeam): Promise<string[]> => {
    const { json } = await of.api.get('/v1/team/members');
    return (json.members as { role: string }[]).map(({ role }) => role);
  };
  const lockTeamRow = () => holdRowLock(service, { teamId: team.id });

  describe('promotion and demotion of owners', () => {
    before(begin);

    it('an owner makes a member an owner, repeating it changes nothing, and a demoted owner becomes an admin (§5.3/owner)', async () => {
      const bob = await newMember(service, team, 'viewer');
      for (let n = 0; n < 2; n += 1) {
        const answer = await make(ada, bob);
        assert.deepEqual([answer.status, answer.json.id, answer.json.role], [200, bob.memberId, 'owner']);
      }
      assert.equal((await unmake(bob, ada)).json.role, 'admin');
      assert.equal((await make(bob, ada)).json.role, 'owner');
      const answer = await unmake(ada, bob);
      assert.deepEqual([answer.status, answer.json.role], [200, 'admin']);
      const noted = (await storedAuditEntries(service, { teamId: team.id })).filter(
        ({ action, target }) => action === 'member.role_changed' && target === bob.memberId,
      );
      assertEach(noted, ({ details }) => details, [
        { role: 'owner', before: 'viewer' },
        { role: 'admin', before: 'owner' },
      ]);
    });

    it('the owner routes answer 404 for members who are not owners, for other teams and for unknown ids', async () => {
      const bob = await newMember(service, team, 'admin');
      const foreign = await newMember(service, await service.newTeam(), 'owner');
      for (const other of [bob, foreign]) assertRefused(await unmake(ada, other), 404, 'not_found');
      assertRefused(await make(ada, foreign), 404, 'not_found');
      const wanted = await ada.put(ada.in('/team/owners/usr_01h2xcejqtf2nbrexx3vqjhp41'), {});
      assert.equal((await make(ada, foreign)).text, wanted.text);
    });
  });

  describe('the last owner of a team', () => {
    before(begin);

    it('the last owner can’t leave, be removed or take another role, by any route', async () => {
      const bob = await newMember(service, team, 'admin');
      assertRefused(await unmake(ada, ada), 409, 'conflict');
      assertRefused(await leave(ada), 409, 'conflict');
      const path = `/team/members/${ada.memberId}`;
      for (const who of [ada, bob]) {
        assertRefused(await who.delete(who.in(path)), 400, 'invalid_request', 'id');
        assertRefused(await who.put(who.in(`${path}/role`), { role: 'admin' }), 400, 'invalid_request', 'id');
      }
      assert.deepEqual(await rolesOf(team), ['owner', 'admin']);
    });

    it('two owners who demote each other or leave at the same time do not leave the team without an owner', async () => {
      await begin();
      const eve = await newMember(service, team, 'owner');
      let row = await lockTeamRow();
      const demotions = [unmake(ada, eve), unmake(eve, ada)];
      await row.waiting(2);
      await row.release();
      assert.deepEqual((await Promise.all(demotions)).map(({ status }) => status).sort(), [200, 403]);
      assert.deepEqual((await rolesOf(team)).sort(), ['admin', 'owner']);

      await begin();
      const joe = await newMember(service, team, 'owner');
      row = await lockTeamRow();
      const leavings = [leave(ada), leave(joe)];
      await row.waiting(2);
      await row.release();
      assert.deepEqual((await Promise.all(leavings)).map(({ status }) => status).sort(), [200, 409]);
      assert.deepEqual(await rolesOf(team), ['owner']);
    });
  });

  describe('leaving a team', () => {
    before(begin);

    it('a member of any role may leave the team, and loses access at once', async () => {
      for (const role of ['admin', 'member', 'viewer', 'owner'] as const) {
        const bob = await newMember(service, team, role);
        await join(service, await service.newTeam(), bob, 'viewer');
        const answer = await leave(bob);
        assert.deepEqual([answer.status, answer.json], [200, { left: true }]);
        assertRefused(await bob.get(bob.in('/team')), 404, 'not_found');
        assertRefused(await leave(bob), 404, 'not_found');
        const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
        assert.deepEqual(
          [last?.action, last?.actorId, last?.target],
          ['member.left', bob.memberId, bob.memberId],
        );
      }
    });

    it('a member who leaves their last team is signed out everywhere', async () => {
      const bob = await newMember(service, team, 'member');
      assert.equal((await leave(bob)).status, 200);
      assertRefused(await bob.get(bob.in('/team')), 401, 'unauthorized');
    });
  });
});

describe('seats under concurrency (specification section 4.1)', () => {
  const service = givenService();
  const invite = async (email: string, to: TestTeam) => (await inviteTo(service, to, email)).accept_url;
  const accept = (link: string) => new Browser(service.baseUrl).submit(link, { name: 'Bob' });

  const members = async (of: TestTeam) =>
    (await of.api.get('/v1/team/members')).json.members as { id: string }[];
  const lockTeamRow = ({ id }: TestTeam) => holdRowLock(service, { teamId: id });

  it('an acceptance counts the seats again, so that surplus invitations get 402 after a downgrade (§8/plan-members)', async () => {
    const here = await service.newTeam({ plan: 'pro' });
    await newMember(service, here, 'owner');
    const links: string[] = [];
    while (links.length < 9) links.push(await invite(newEmail(), here));
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 1_000 }, operator);
    const answers = await Promise.all(links.map((link) => accept(link)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [303, 303, ...Array.from({ length: 7 }, () => 402)]);
    assert.equal((await members(here)).length, 3);
    const refused = answers.find(({ status }) => status === 402);
    assert.match(refused?.text ?? '', /The plan starter allows 3 members[\s\S]*\/billing /);
    // A refused acceptance must leave no rows, and the link must work once a seat is free.
    const accounts = (await storedAccounts(service)).filter(({ name }) => name === 'Bob');
    assertEach(accounts, ({ teams }) => teams, [1, 1]);
    const waiting = links[answers.findIndex(({ status }) => status === 402)] ?? '';
    await changePlan(service.runtime, here.id, { plan: 'pro', monthlyMessageLimit: 1_000 }, operator);
    assert.equal((await accept(waiting)).status, 303);
  });

  it('an acceptance that waits for the lock of a downgrade counts the new plan’s seats', async () => {
    const here = await service.newTeam({ plan: 'starter' });
    await newMember(service, here, 'owner');
    const link = await invite(newEmail(), here);
    const row = await lockTeamRow(here);
    const change = changePlan(service.runtime, here.id, { plan: 'free', monthlyMessageLimit: 100 }, operator);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    await change;
    assert.equal((await accepted).status, 402);
  });

  it('an acceptance that waits for the lock of a removal gets the freed seat', async () => {
    const here = await service.newTeam({ plan: 'pro' });
    await newMember(service, here, 'owner');
    const bob = await newMember(service, here, 'member');
    await newMember(service, here, 'member');
    const link = await invite(newEmail(), here);
    await changePlan(service.runtime, here.id, { plan: 'starter', monthlyMessageLimit: 1_000 }, operator);
    const row = await lockTeamRow(here);
    const removal = here.api.delete(`/v1/team/members/${bob.memberId}`);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    assert.equal((await removal).status, 200);
    assert.equal((await accepted).status, 303);
  });

  it('an acceptance that waits while its invitation is being revoked is refused', async () => {
    const here = await service.newTeam();
    const link = await invite('behind@example.com', here);
    const list = await here.api.get('/v1/team/invitations?limit=1');
    const [{ invitation_id: id } = { invitation_id: '' }] = list.json.invitations as {
      invitation_id: string;
    }[];
    const row = await lockTeamRow(here);
    const revocation = here.api.delete(`/v1/team/invitations/${id}`);
    await row.waiting(1);
    const accepted = accept(link);
    await row.waiting(2);
    await row.release();
    assert.equal((await revocation).status, 200);
    assert.equal((await accepted).status, 404);
  });
});
