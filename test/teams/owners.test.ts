import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { assertRefused } from '#test/support/people/invite.ts';
import { join, newMember, type TeamMember } from '#test/support/people/people.ts';
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

    it('no API key promotes or demotes an owner: /v1 has no such route', async () => {
      for (const path of [`/v1/team/owners/${ada.memberId}`, '/v1/team/leave']) {
        assert.equal((await team.api.put(path, {})).status, 404);
        assert.equal((await team.api.post(path)).status, 404);
      }
      assertRefused(await team.api.put(ada.in(`/team/owners/${ada.memberId}`), {}), 401, 'unauthorized');
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
