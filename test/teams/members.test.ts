import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createKey } from '#server/api-keys/api-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { parseId } from '#server/platform/ids.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { assertRefused } from '#test/support/people/invite.ts';
import {
  join,
  newCookie,
  newMember,
  newPerson,
  PageClient,
  type TeamMember,
} from '#test/support/people/people.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

describe('members (specification section 4.1)', () => {
  let team: TestTeam;
  const service = givenService();
  given(() => plantCanary(service));

  const roleOf = async (of: TestTeam, id: string): Promise<unknown> => {
    const { json } = await of.api.get('/v1/team/members');
    const members = json.members as { id: string; role: string }[];
    return members.find((member) => member.id === id)?.role;
  };
  /** The successful actions in the audit log of a team. */
  const audited = async (of: TestTeam) =>
    (await storedAuditEntries(service, { teamId: of.id })).filter(({ outcome }) => outcome === 'done');

  it('a person has a different member id in each team', async () => {
    const [one, other] = [await service.newTeam(), await service.newTeam()];
    const person = await newPerson(service);
    const ids = [await join(service, one, person, 'member'), await join(service, other, person, 'admin')];
    assert.notEqual(ids[0]?.memberId, ids[1]?.memberId);
    assert.equal(await roleOf(one, ids[0]?.memberId ?? ''), 'member');
    assert.equal(await roleOf(other, ids[1]?.memberId ?? ''), 'admin');
  });

  describe('PUT /v1/team/members/:id/role', () => {
    before(async () => {
      team = await service.newTeam();
    });

    it('setting a role answers with the changed member, and the audit log has the actor and the old role', async () => {
      const bob = await newMember(service, team, 'viewer');
      for (const role of ['admin', 'member', 'viewer']) {
        const answer = await team.api.put(`/v1/team/members/${bob.memberId}/role`, { role });
        assert.deepEqual([answer.status, answer.json.id, answer.json.role], [200, bob.memberId, role]);
        assert.deepEqual(Object.keys(answer.json).sort(), ['created_at', 'email', 'id', 'name', 'role']);
        assert.equal(await roleOf(team, bob.memberId), role);
      }
      const last = (await audited(team)).at(-1);
      assert.match(last?.actorId ?? '', /^key_/);
      assert.deepEqual(
        [last?.action, last?.target, last?.details, last?.ip],
        ['member.role_changed', bob.memberId, { role: 'viewer', before: 'member' }, '127.0.0.1'],
      );
    });

    it('setting the same role again changes nothing and writes no audit entry (§4.1/no-ops-and-seats)', async () => {
      const bob = await newMember(service, team, 'member');
      const before = await audited(team);
      const answer = await team.api.put(`/v1/team/members/${bob.memberId}/role`, { role: 'member' });
      assert.deepEqual([answer.status, answer.json.role], [200, 'member']);
      assert.deepEqual(await audited(team), before);
    });

    it('a role request without a role answers with the member, even an owner, and changes nothing (§4.1/no-ops-and-seats)', async () => {
      const people = [await newMember(service, team, 'viewer'), await newMember(service, team, 'owner')];
      const before = await audited(team);
      for (const { memberId } of people) {
        const path = `/v1/team/members/${memberId}/role`;
        const role = await roleOf(team, memberId);
        for (const options of [{ body: {} }, { rawBody: '' }, {}]) {
          const answer = await team.api.request('PUT', path, options);
          assert.deepEqual([answer.status, answer.json.id, answer.json.role], [200, memberId, role]);
        }
      }
      assert.deepEqual(await audited(team), before);
      const unknownMember = '/v1/team/members/usr_01h2xcejqtf2nbrexx3vqjhp41/role';
      assertRefused(await team.api.put(unknownMember, {}), 404, 'not_found');
    });

    it('setting the role of an owner is refused (param id), and setting the role owner is refused (param role)', async () => {
      const ada = await newMember(service, team, 'owner');
      const bob = await newMember(service, team, 'member');
      const owners = `/v1/team/members/${ada.memberId}/role`;
      assertRefused(await team.api.put(owners, { role: 'admin' }), 400, 'invalid_request', 'id');
      assertRefused(
        await ada.put(ada.in(`/team/members/${ada.memberId}/role`), { role: 'viewer' }),
        400,
        'invalid_request',
        'id',
      );
      const bobs = `/v1/team/members/${bob.memberId}/role`;
      for (const role of ['owner', 'Admin', '', null, 1, ['admin']]) {
        assertRefused(await team.api.put(bobs, { role }), 400, 'invalid_request', 'role');
      }
      assertRefused(await team.api.put(bobs, { role: 'admin', name: 'x' }), 400, 'invalid_request', 'name');
      assert.deepEqual(
        [await roleOf(team, ada.memberId), await roleOf(team, bob.memberId)],
        ['owner', 'member'],
      );
    });
  });

  describe('DELETE /v1/team/members/:id', () => {
    before(async () => {
      team = await service.newTeam();
    });

    /** Makes a key whose creator is the member. */
    async function keyOf(member: TeamMember): Promise<ApiClient> {
      const { runtime } = service;
      const id = parseId('usr', member.memberId);
      if (!id) throw new Error('no id of a member');
      const { key } = await runtime.database.transaction((trx) =>
        createKey(trx, runtime, {
          teamId: team.id,
          name: 'test',
          permissions: ['team:read'],
          creator: { id, grants: ['team:read'] },
          by: operator,
        }),
      );
      return new ApiClient(service.baseUrl, key);
    }

    it('a removed person loses the team at once, but keeps the account, the session and other teams', async () => {
      const elsewhere = await service.newTeam();
      const bob = await newMember(service, team, 'admin');
      const there = await join(service, elsewhere, bob, 'viewer');
      const answer = await team.api.delete(`/v1/team/members/${bob.memberId}`);
      assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
      assertRefused(await bob.get(bob.in('/team')), 404, 'not_found');
      assert.equal((await there.get(there.in('/team'))).status, 200);
      assert.equal(await roleOf(team, bob.memberId), undefined);
      const last = (await audited(team)).at(-1);
      assert.deepEqual(
        [last?.action, last?.target, last?.details],
        ['member.removed', bob.memberId, { email: bob.email, role: 'admin', revoke_keys: false }],
      );
    });

    it('a removed member without another team is signed out everywhere', async () => {
      const bob = await newMember(service, team, 'member');
      const phone = new PageClient(service.baseUrl, await newCookie(service, bob.account));
      await team.api.delete(`/v1/team/members/${bob.memberId}`);
      for (const client of [bob, phone])
        assertRefused(await client.get(bob.in('/team')), 401, 'unauthorized');
      const last = (await storedAuditEntries(service, { accountId: bob.account.id })).at(-1);
      assert.equal(last?.action, 'account.signed_out_everywhere');
    });

    it('a member who is removed from both of their teams at the same time is signed out everywhere', async () => {
      const elsewhere = await service.newTeam();
      const bob = await newMember(service, team, 'member');
      const there = await join(service, elsewhere, bob, 'member');
      const account = await holdRowLock(service, { accountId: bob.account.id });
      const removals = [
        team.api.delete(`/v1/team/members/${bob.memberId}`),
        elsewhere.api.delete(`/v1/team/members/${there.memberId}`),
      ];
      await account.waiting(2);
      await account.release();
      for (const answer of await Promise.all(removals)) assert.equal(answer.status, 200, answer.text);
      assertRefused(await bob.get(bob.in('/team')), 401, 'unauthorized');
    });

    it('keys of a removed member keep working unless revoke_keys=true revokes them', async () => {
      const [bob, eve] = [await newMember(service, team, 'member'), await newMember(service, team, 'member')];
      const [bobs, eves, another] = [await keyOf(bob), await keyOf(eve), await keyOf(eve)];
      await team.api.delete(`/v1/team/members/${bob.memberId}`);
      await team.api.delete(`/v1/team/members/${eve.memberId}?revoke_keys=true`);
      service.clock.advance(1_000);
      assert.equal((await bobs.get('/v1/team')).status, 200);
      assert.equal((await team.api.get('/v1/team')).status, 200);
      for (const key of [eves, another]) assertRefused(await key.get('/v1/team'), 401, 'unauthorized');
      const actions = (await audited(team)).slice(-3).map(({ action }) => action);
      assert.deepEqual(actions, ['member.removed', 'key.revoked', 'key.revoked']);
    });

    it('revoke_keys is false by default, and any word except true and false is 400', async () => {
      const bob = await newMember(service, team, 'member');
      const bobs = await keyOf(bob);
      for (const word of ['1', 'yes', 'TRUE', '']) {
        const answer = await team.api.delete(`/v1/team/members/${bob.memberId}?revoke_keys=${word}`);
        assertRefused(answer, 400, 'invalid_request', 'revoke_keys');
      }
      assert.equal((await team.api.delete(`/v1/team/members/${bob.memberId}?revoke_keys=false`)).status, 200);
      service.clock.advance(1_000);
      assert.equal((await bobs.get('/v1/team')).status, 200);
    });

    it('a request to remove an owner is refused with param id, from a key and from an owner', async () => {
      const ada = await newMember(service, team, 'owner');
      const co = await newMember(service, team, 'owner');
      assertRefused(await team.api.delete(`/v1/team/members/${ada.memberId}`), 400, 'invalid_request', 'id');
      assertRefused(await co.delete(co.in(`/team/members/${ada.memberId}`)), 400, 'invalid_request', 'id');
      assert.equal(await roleOf(team, ada.memberId), 'owner');
    });

    it('a removed person who joins again is a new member with a new id', async () => {
      const bob = await newMember(service, team, 'member');
      await team.api.delete(`/v1/team/members/${bob.memberId}`);
      const again = await join(service, team, bob, 'viewer');
      assert.notEqual(again.memberId, bob.memberId);
      assert.equal(await roleOf(team, again.memberId), 'viewer');
      assertRefused(await team.api.delete(`/v1/team/members/${bob.memberId}`), 404, 'not_found');
    });
  });

  it('a member who was demoted while their request waited for a lock changes nothing', async () => {
    team = await service.newTeam();
    const bob = await newMember(service, team, 'admin');
    const eve = await newMember(service, team, 'member');
    // A process runs only three requests of a team at once, so the other requests are sent to a second process.
    const other = await service.startAnother();
    try {
      const there = new PageClient(other.baseUrl, bob.cookie);
      const row = await holdRowLock(service, { teamId: team.id });
      const demotion = team.api.put(`/v1/team/members/${bob.memberId}/role`, { role: 'viewer' });
      await row.waiting(1);
      const requests = [
        bob.put(bob.in(`/team/members/${eve.memberId}/role`), { role: 'admin' }),
        bob.delete(bob.in(`/team/members/${eve.memberId}`)),
        there.post(bob.in('/team/members/invite'), { email: 'friend@example.com', role: 'admin' }),
        there.put(bob.in('/team'), { name: 'By Bob' }),
      ];
      await row.waiting(1 + requests.length);
      await row.release();
      assert.equal((await demotion).status, 200);
      for (const answer of await Promise.all(requests)) assertRefused(answer, 403, 'forbidden');
    } finally {
      await other.close();
    }
    assert.equal(await roleOf(team, eve.memberId), 'member');
    assert.deepEqual((await team.api.get('/v1/team/invitations')).json.invitations, []);
    assert.equal((await team.api.get('/v1/team')).json.name, 'Example team');
  });

  it('a new role and a removal take effect on every process at once', async (t) => {
    team = await service.newTeam();
    const bob = await newMember(service, team, 'admin');
    const other = await service.startAnother();
    t.after(() => other.close());
    const there = new PageClient(other.baseUrl, bob.cookie);
    const rename = () => there.put(bob.in('/team'), { name: 'By Bob' });
    assert.equal((await rename()).status, 200);
    await team.api.put(`/v1/team/members/${bob.memberId}/role`, { role: 'viewer' });
    assertRefused(await rename(), 403, 'forbidden');
    await team.api.delete(`/v1/team/members/${bob.memberId}`);
    assertRefused(await rename(), 401, 'unauthorized');
  });

  it('a member who was removed while their request waited for a lock gets 404', async () => {
    team = await service.newTeam();
    const bob = await newMember(service, team, 'admin');
    await join(service, await service.newTeam(), bob, 'viewer');
    const row = await holdRowLock(service, { teamId: team.id });
    const removal = team.api.delete(`/v1/team/members/${bob.memberId}`);
    await row.waiting(1);
    const invitation = bob.post(bob.in('/team/members/invite'), {
      email: 'friend@example.com',
      role: 'admin',
    });
    await row.waiting(2);
    await row.release();
    assert.equal((await removal).status, 200);
    assertRefused(await invitation, 404, 'not_found');
    assert.deepEqual((await team.api.get('/v1/team/invitations')).json.invitations, []);
  });
});
