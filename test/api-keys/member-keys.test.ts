import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Grant, type Role, roleGrants } from '#contract/permissions.ts';
import { createKey } from '#server/api-keys/api-keys.ts';
import { operator } from '#server/platform/actor.ts';
import { holdRoleChange } from '#test/support/people/given-accounts.ts';
import { join, newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

describe('API keys that members manage (specification sections 5.1 and 5.3)', () => {
  const { service, team } = givenTeam();
  const people = new Map<Role, TeamMember>();

  before(async () => {
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      people.set(role, await newMember(service, team, role));
    }
  });

  function as(role: Role): TeamMember {
    const person = people.get(role);
    assert.ok(person);
    return person;
  }

  const make = (
    person: TeamMember,
    permissions: readonly Grant[],
    name = 'Billing system',
  ): Promise<ApiAnswer> => person.post(person.in('/keys'), { name, permissions });

  it('the text of a key is shown once, and the list of keys has its creator and last use', async () => {
    const owner = as('owner');
    const made = await make(owner, ['messages:send', 'numbers:read']);
    assert.equal(made.status, 201, made.text);
    const { key, ...shown } = made.json;
    assert.match(String(key), /^own_live_[a-z0-9]{4}[0-9A-Za-z]{38}$/);
    assert.deepEqual(shown, {
      id: made.json.id,
      name: 'Billing system',
      permissions: ['messages:send', 'numbers:read'],
      created_by: owner.memberId,
      created_at: made.json.created_at,
      last_used_at: null,
    });
    assert.equal((await new ApiClient(service.baseUrl, String(key)).get('/v1/numbers')).status, 200);
    const usedAt = await lastUse(owner, String(made.json.id));
    assert.ok(Date.parse(usedAt) >= Date.parse(String(made.json.created_at)));
    const list = await owner.get(owner.in('/keys'));
    assert.ok(!list.text.includes(String(key)));
  });

  function lastUse(person: TeamMember, id: string): Promise<string> {
    return until('the use is written', async () => {
      const { json } = await person.get(person.in('/keys'));
      const keys = json.keys as { id: string; last_used_at: string | null }[];
      return keys.find((key) => key.id === id)?.last_used_at ?? false;
    });
  }

  it('a member can’t make a key with permissions beyond their own role (§5.3/key-permissions)', async () => {
    const wanted: [Role, Grant[], number, string?][] = [
      ['owner', ['*'], 201],
      ['admin', ['*'], 403, '*'],
      ['admin', ['team:write', 'numbers:write'], 403, 'team:write'],
      ['admin', ['team:read', 'numbers:write', 'webhooks:manage', 'messages:send'], 201],
      ['member', ['messages:send', 'messages:read', 'webhooks:manage', 'team:read', 'numbers:read'], 201],
      ['member', ['messages:send', 'numbers:write', 'team:write'], 403, 'numbers:write, team:write'],
      ['member', ['*'], 403, '*'],
      ['viewer', ['messages:read'], 403],
    ];
    for (const [role, permissions, status, named] of wanted) {
      const answer = await make(as(role), permissions);
      assert.equal(answer.status, status, `${role} ${permissions}: ${answer.text}`);
      if (named === undefined) continue;
      assert.equal(field(answer.json, 'error.param'), 'permissions');
      assert.ok(String(field(answer.json, 'error.message')).includes(named), answer.text);
    }
  });

  it('an invalid name or permission of a key is refused with its field', async () => {
    const owner = as('owner');
    const cases: [unknown, string][] = [
      [{ name: '', permissions: ['team:read'] }, 'name'],
      [{ name: 'a'.repeat(101), permissions: ['team:read'] }, 'name'],
      [{ name: 'Key', permissions: [] }, 'permissions'],
      [{ name: 'Key', permissions: ['keys:manage'] }, 'permissions'],
      [{ name: 'Key' }, 'permissions'],
    ];
    for (const [body, param] of cases) {
      const answer = await owner.post(owner.in('/keys'), body);
      assert.equal(answer.status, 400, answer.text);
      assert.match(String(field(answer.json, 'error.param')), new RegExp(`^${param}`));
    }
  });

  it('a member revokes only the keys that they made, and an admin the keys of all members (§5.3/member)', async () => {
    const [member, admin] = [as('member'), as('admin')];
    const other = await newMember(service, await service.newTeam(), 'owner');
    const id = async (person: TeamMember) => String((await make(person, ['messages:read'])).json.id);
    const revoke = async (person: TeamMember, key: string) =>
      (await person.delete(person.in(`/keys/${key}`))).status;
    const [own, foreign] = [await id(member), await id(admin)];
    assert.equal(await revoke(other, own), 404);
    assert.equal(await revoke(member, foreign), 403);
    assert.equal(await revoke(as('viewer'), own), 403);
    assert.equal(await revoke(member, own), 200);
    assert.equal(await revoke(member, own), 200, 'again');
    assert.equal(await revoke(admin, await id(member)), 200);
    assert.equal(await revoke(member, 'key_nonsense'), 404);
    const { json } = await admin.get(admin.in('/keys'));
    const listed = (json.keys as { id: string }[]).map((key) => key.id);
    assert.ok(listed.includes(foreign) && !listed.includes(own), 'lists what works and nothing else');
  });

  it('a member who loses the role while making a key can’t give it the old role’s permissions (§5.3/key-permissions)', async () => {
    const person = await newMember(service, team, 'admin');
    const change = await holdRoleChange(service, uuidOf('usr', person.memberId), 'member');
    const making = make(person, ['numbers:write']);
    await change.waiting(1);
    await change.release();
    const answer = await making;
    assert.partialDeepStrictEqual(answer, { status: 403, json: { error: { param: 'permissions' } } });
  });

  it('a member who loses the role while revoking a key is refused (§5.3/key-permissions)', async () => {
    const others = await make(as('owner'), ['messages:read'], 'Of the owner');
    const id = String(others.json.id);
    for (const [role, message] of [
      ['member', /Another person made this key/],
      ['viewer', /does not include keys:manage/],
    ] as const) {
      const person = await newMember(service, team, 'admin');
      const change = await holdRoleChange(service, uuidOf('usr', person.memberId), role);
      const revoking = person.delete(person.in(`/keys/${id}`));
      await change.waiting(1);
      await change.release();
      const answer = await revoking;
      assert.equal(answer.status, 403, answer.text);
      assert.match(String(field(answer.json, 'error.message')), message);
    }
    const { keys } = (await as('owner').get(as('owner').in('/keys'))).json as { keys: { id: string }[] };
    assert.ok(keys.some((key) => key.id === id));
  });

  it('a member who gets a lower role loses the keys that exceed it, and a leaving member loses all on request (§5.3/key-permissions)', async () => {
    const owner = as('owner');
    const admin = await newMember(service, team, 'admin');
    const wide = await make(admin, ['numbers:write', 'team:read']);
    const narrow = await make(admin, ['messages:send']);
    const others = await make(owner, ['team:write']);
    const demoted = await owner.put(owner.in(`/team/members/${admin.memberId}/role`), { role: 'member' });
    assert.equal(demoted.status, 200, demoted.text);
    const live = async () => {
      const { keys } = (await owner.get(owner.in('/keys'))).json as { keys: { id: string }[] };
      return [wide, narrow, others].map(({ json }) => keys.some(({ id }) => id === json.id));
    };
    assert.deepEqual(await live(), [false, true, true]);
    const { json } = await owner.get(owner.in('/audit?limit=1'));
    const [last] = json.entries as { action: string; target: string }[];
    assert.deepEqual([last?.action, last?.target], ['key.revoked', wide.json.id]);
    const left = await admin.post(admin.in('/team/leave?revoke_keys=true'));
    assert.equal(left.status, 200, left.text);
    assert.deepEqual(await live(), [false, false, true]);

    const second = await newMember(service, team, 'owner');
    const all = await make(second, ['*']);
    assert.equal((await owner.delete(owner.in(`/team/owners/${second.memberId}`))).status, 200);
    const answer = await new ApiClient(service.baseUrl, String(all.json.key)).get('/v1/team');
    assert.equal(answer.status, 401, answer.text);
  });

  it('a rejoined member can revoke the keys of their earlier membership, and removing the member can revoke them too (§5.3/key-permissions)', async () => {
    const owner = as('owner');
    const person = await newMember(service, team, 'member');
    await join(service, await service.newTeam(), person, 'viewer');
    const ids: string[] = [];
    for (const name of ['one', 'two']) ids.push(String((await make(person, ['team:read'], name)).json.id));
    assert.equal((await person.post(person.in('/team/leave'))).status, 200);
    const again = await join(service, team, person, 'member');
    assert.equal((await again.delete(again.in(`/keys/${ids[0]}`))).status, 200);
    const live = async () => {
      const { keys } = (await owner.get(owner.in('/keys'))).json as { keys: { id: string }[] };
      return ids.map((id) => keys.some((key) => key.id === id));
    };
    assert.deepEqual(await live(), [false, true]);
    const removed = await owner.delete(owner.in(`/team/members/${again.memberId}?revoke_keys=true`));
    assert.equal(removed.status, 200, removed.text);
    assert.deepEqual(await live(), [false, false]);
  });

  it('only an owner can make a key with team:write or *, and the refusal gives the reason (§5.3/keys-of-owners)', async () => {
    for (const permissions of [['team:write'], ['*'], ['messages:send', 'team:write']] as const) {
      const refused = await make(as('admin'), permissions);
      assert.partialDeepStrictEqual(refused, { status: 403, json: { error: { param: 'permissions' } } });
      assert.match(
        String(field(refused.json, 'error.message')),
        /^Only owners create keys with .* worth an admin/,
      );
      assert.equal((await make(as('owner'), permissions)).status, 201);
    }
  });

  it('a key with team:write that an admin made earlier keeps working, and an owner who becomes an admin loses such keys (§5.3/keys-of-owners)', async () => {
    const admin = await newMember(service, team, 'admin');
    const creator = { id: uuidOf('usr', admin.memberId), grants: roleGrants.admin };
    const old = await service.runtime.database.transaction((trx) =>
      createKey(trx, service.runtime, {
        teamId: team.id,
        name: 'Directory',
        permissions: ['team:write'],
        creator,
        by: operator,
      }),
    );
    const invited = { email: 'by-an-old-key@example.com', role: 'admin' };
    const answer = await new ApiClient(service.baseUrl, old.key).post('/v1/team/members/invite', invited);
    assert.equal(answer.status, 201, answer.text);

    const second = await newMember(service, team, 'owner');
    const made = await make(second, ['team:write']);
    const narrow = await make(second, ['numbers:write']);
    assert.equal((await as('owner').delete(as('owner').in(`/team/owners/${second.memberId}`))).status, 200);
    const status = async ({ json }: ApiAnswer) =>
      (await new ApiClient(service.baseUrl, String(json.key)).get('/v1/numbers')).status;
    assert.deepEqual(
      [await status(made), await status(narrow)],
      [401, 403],
      'revoked, and only not permitted',
    );
  });
});
