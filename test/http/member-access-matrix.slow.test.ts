import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { allows, roleGrants, roles } from '#contract/permissions.ts';
import { auditActions } from '#server/audit/audit-action.ts';
import type { Audience } from '#server/platform/http/route.ts';
import { below, ofMembers } from '#test/support/http/member-operations.ts';
import {
  addressOf,
  newThings,
  operations,
  sender,
  stateOf,
  type Things,
} from '#test/support/http/operations.ts';
import { join, newMember, newPerson, PageClient, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Routes without a team, listed so that none is open by mistake. Their own tests call them. */
const withoutTeam: Readonly<Record<'account' | 'visitor', readonly string[]>> = {
  account: [
    'DELETE /app/account/passkeys/:id',
    'DELETE /app/account/sessions/:id',
    'GET /app/account',
    'GET /app/account/audit',
    'GET /app/account/passkeys',
    'GET /app/account/sessions',
    'POST /app/account/passkeys',
    'POST /app/account/passkeys/options',
    'POST /app/account/sign-out',
    'POST /app/account/sign-out-everywhere',
    'PUT /app/account',
    'PUT /app/account/passkeys/:id',
    'PUT /app/account/password',
  ],
  visitor: ['POST /app/sign-in/passkey', 'POST /app/sign-in/passkey/options'],
};

/** This owner stays in the team, so that other owners may leave it. */
let owner: TeamMember;

describe('the permissions of members (specification sections 5.3 and 12.3)', () => {
  let things: Things;
  // Without a dispatcher, deliveries do not change the state that refused requests must leave alone.
  const service = givenService({ ROLES: 'api,maintain' });
  const canary = given(() => plantCanary(service));
  const team = given(() => service.newTeam());

  before(async () => {
    owner = await newMember(service, team, 'owner');
    await connectNumber(service, team, sender);
    things = await newThings(service, team);
  });

  const names = Object.keys(ofMembers);
  const served = (audience: Audience) =>
    service.app.routes
      .filter((route) => route.audience === audience)
      .map((route) => `${route.method} ${route.path}`)
      .sort();

  function ask(
    client: ApiClient,
    name: string,
    about: Things,
    { teamId = team.publicId, headers = {} }: { teamId?: string; headers?: Record<string, string> } = {},
  ): Promise<ApiAnswer> {
    const [method = '', pattern = ''] = name.split(' ');
    const address = addressOf(pattern, about, method).replace(':team_id', teamId);
    return client.request(method, address, { body: ofMembers[name]?.body?.(about), headers });
  }

  function assertRefused(answer: ApiAnswer, status: number, code: string, what: string): void {
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    assert.equal(field(answer.json, 'error.code'), code, what);
  }

  it('every route of a member, an account or a visitor is listed, with the permission that a member needs (§12.3/team-operations)', () => {
    assert.deepEqual(names.toSorted(), served('team'));
    for (const route of service.app.routes.filter(({ audience }) => audience === 'team')) {
      const name = `${route.method} ${route.path}`;
      assert.equal(route.permission, ofMembers[name]?.permission, name);
    }
    for (const [audience, routes] of Object.entries(withoutTeam)) {
      assert.deepEqual(served(audience as Audience), routes, audience);
    }
  });

  it('every change to a team and its people has an action of the audit log (section 12.6)', () => {
    const changes = service.app.routes.filter(
      ({ method, path, audience, byToken }) =>
        method !== 'GET' && (path.startsWith(`${below}/team`) || (audience === 'page' && !byToken)),
    );
    assert.ok(changes.length >= 14);
    const unnamed = changes.filter(({ audit }) => !auditActions.some((action) => action === audit));
    assert.deepEqual(
      unnamed.map(({ path }) => path),
      [],
    );
  });

  // Roles with more refusals come first: each refusal reads the team's data, which grow with each allowed request.
  for (const role of roles.toReversed()) {
    it(`${role === 'owner' ? 'an' : 'a'} ${role} may use the operations of the role and no other (§5.3/owner, §5.3/admin, §5.3/member, §5.3/viewer)`, async () => {
      const refused = await newMember(service, team, role);
      /** The team's state before a refused request; undefined after an allowed request. */
      let state: unknown;
      for (const name of names) {
        const operation = ofMembers[name];
        const permission = operation?.permission;
        if (permission === undefined || allows(roleGrants[role], permission)) {
          state = undefined;
          const about = await newThings(service, team);
          await operation?.prepare?.(about, owner);
          const member = await newMember(service, team, role);
          const answer = await ask(member, operation?.isStream ? name.replace('GET', 'HEAD') : name, about);
          const status = operation?.statusAs?.[role] ?? operation?.status;
          assert.equal(answer.status, status, `${role}: ${name} ${answer.text}`);
        } else {
          state ??= await stateOf(team.api);
          const answer = await ask(refused, name, things);
          assertRefused(answer, 403, 'forbidden', `${role}: ${name}`);
          assert.match(String(field(answer.json, 'error.message')), new RegExp(`${role}.*${permission}\\b`));
          assert.deepEqual(await stateOf(team.api), state, `${role}: ${name} changed something`);
        }
      }
    });
  }

  it('an account without a membership gets the answer of an unknown team on every team operation (§12.3/csrf-and-checks)', async () => {
    const stranger = await newMember(service, await service.newTeam(), 'owner');
    const before = await stateOf(team.api);
    for (const name of names) {
      const wanted = await ask(stranger, name, things, { teamId: 'team_01h2xcejqtf2nbrexx3vqjhp41' });
      assertRefused(wanted, 404, 'not_found', name);
      for (const teamId of [team.publicId, 'team_x', stranger.memberId]) {
        assert.equal((await ask(stranger, name, things, { teamId })).text, wanted.text, name);
      }
    }
    assert.deepEqual(await stateOf(team.api), before, 'a refused request changed something');
  });

  it('every operation answers 401 without a session, with an ended one, and with an API key instead', async () => {
    const gone = await newMember(service, team, 'owner');
    assert.equal((await gone.post('/app/account/sign-out-everywhere')).status, 200);
    const before = await stateOf(team.api);
    for (const name of names) {
      for (const cookie of ['', gone.cookie, 'ownline=', `ownline=${'x'.repeat(43)}`, 'other=1']) {
        const answer = await ask(new PageClient(service.baseUrl, cookie), name, things);
        assertRefused(answer, 401, 'unauthorized', `${name} with ${cookie}`);
      }
      assertRefused(await ask(team.api, name, things), 401, 'unauthorized', `${name} with a key`);
    }
    assert.deepEqual(await stateOf(team.api), before, 'a refused request changed something');
  });

  it('a session does not authenticate requests to /v1', async () => {
    for (const name of Object.keys(operations)) {
      const [method = '', pattern = ''] = name.split(' ');
      const answer = await owner.request(method, addressOf(pattern, things, method), {
        body: operations[name]?.body?.(things),
      });
      assertRefused(answer, 401, 'unauthorized', name);
    }
  });

  it('a person’s role in one team does not apply in another team (§12.1/account)', async () => {
    const elsewhere = await service.newTeam();
    const person = await newPerson(service);
    const here = await join(service, team, person, 'viewer');
    const there = await join(service, elsewhere, person, 'admin');
    const rename = (who: TeamMember) => who.put(who.in('/team'), { name: 'Renamed' });
    assert.deepEqual([(await rename(here)).status, (await rename(there)).status], [403, 200]);
  });

  it('ids of another team are answered like unknown ids', async () => {
    const before = await stateOf(canary.team.api);
    const { ids } = service.runtime;
    const never = {
      ...things,
      numberId: ids.nextPublic('num'),
      messageId: ids.nextPublic('msg'),
      memberId: ids.nextPublic('usr'),
      invitationId: ids.nextPublic('inv'),
      keyId: ids.nextPublic('key'),
      webhookId: ids.nextPublic('wh'),
      rotatingWebhookId: ids.nextPublic('wh'),
      deliveryId: ids.nextPublic('dlv'),
    };
    const foreign = {
      ...things,
      numberId: canary.number.numberId,
      messageId: canary.queuedId,
      memberId: canary.memberId,
      invitationId: canary.invitationId,
      keyId: canary.keyId,
      webhookId: canary.webhookId,
      rotatingWebhookId: canary.webhookId,
      deliveryId: canary.deliveryId,
    };
    for (const name of names.filter((operation) => operation.includes('/:id'))) {
      const [answer, wanted] = [await ask(owner, name, foreign), await ask(owner, name, never)];
      assertRefused(wanted, 404, 'not_found', name);
      assert.equal(answer.text, wanted.text, name);
    }
    assert.deepEqual(await stateOf(canary.team.api), before, 'another team’s request changed something');
  });
});
