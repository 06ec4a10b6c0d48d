import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  allows,
  type Grant,
  type Permission,
  permissions,
  roleGrants,
  roles,
} from '#contract/permissions.ts';
import { newApiKey } from '#server/api-keys/api-keys.ts';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import type { Audience } from '#server/http/route.ts';
import { operator } from '#server/platform/actor.ts';
import { watchLocks } from '#test/support/database/watch-locks.ts';
import { ofMembers } from '#test/support/http/member-operations.ts';
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
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

/** Routes without a key and a team, by audience. A new route has to be added here, so that none is open by mistake. */
const otherRoutes: Readonly<Record<Exclude<Audience, 'api' | 'team'>, readonly string[]>> = {
  // Each of these routes requires the token of a setup link or of a device.
  device: [
    'GET /v1/device/media/:id/:filename',
    'POST /v1/device/claim',
    'POST /v1/device/inbound',
    'POST /v1/device/poll',
    'POST /v1/device/status',
  ],
  // The API reference, pages that a token in the address opens, sign-in and sign-out, and the dashboard's pages.
  page: [
    'GET /',
    'GET /app-icon.png',
    'GET /assets/:name',
    'GET /billing',
    'GET /docs',
    'GET /docs/js/scalar.js',
    'GET /favicon.ico',
    'GET /fonts/inter-latin.woff2',
    'GET /icon-waiting.svg',
    'GET /invite/:token',
    'GET /link/:token',
    'GET /manifest.webmanifest',
    'GET /media/:id/:token/:name',
    'GET /setup/:token',
    'GET /setup/:token/by-hand',
    'GET /setup/:token/files/:form/:name',
    'GET /sign-in',
    'GET /teams/:team_id',
    'GET /teams/:team_id/:page',
    'GET /teams/:team_id/:page/:id',
    'GET /teams/:team_id/:page/:id/:part',
    'GET /test-picture.png',
    'GET /v1/openapi.json',
    'POST /billing',
    'POST /invite/:token',
    'POST /link/:token',
    'POST /setup/:token/by-hand',
    'POST /sign-in',
    'POST /sign-out',
  ],
  // These routes show nothing of a team. Only a holder of SECRETS_KEY can make a ticket for the probe.
  operations: ['GET /healthz', 'GET /metrics', 'GET /readyz', 'POST /v1/device/probe/:ticket'],
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
  // Sign-in, and the setup page, whose routes require the token of a setup link.
  visitor: [
    'GET /setup/:token/state',
    'POST /app/sign-in/passkey',
    'POST /app/sign-in/passkey/options',
    'POST /setup/:token/claim',
    'POST /setup/:token/done',
    'POST /setup/:token/form',
    'POST /setup/:token/lock-test',
    'POST /setup/:token/test-text',
    'POST /setup/:token/ticks',
  ],
};

const ofKeys = Object.keys(operations);
const ofTeam = Object.keys(ofMembers);

describe('the permissions of keys and members (specification sections 5.1, 5.3 and 12.3)', () => {
  /** The things to which refused requests refer. */
  let things: Things;
  // Without a dispatcher, deliveries do not change the state that refused requests must leave alone.
  const service = givenService({ ROLES: 'api,maintain' });
  const locks = given(watchLocks, (watch) => watch.stop());
  const canary = given(() => plantCanary(service));
  const team = given(() => service.newTeam());
  /** This owner stays in the team, so that other owners may leave it. */
  const owner = given(() => newMember(service, team, 'owner'));

  before(async () => {
    await connectNumber(service, team, sender);
    things = await newThings(service, team);
  });

  /** Sends the request of an operation. @param teamId the team in the address, if it is another than the team's */
  function ask(client: ApiClient, name: string, about: Things, teamId = team.publicId): Promise<ApiAnswer> {
    const [method = '', pattern = ''] = name.split(' ');
    const address = addressOf(pattern, about, method).replace(':team_id', teamId);
    return client.request(method, address, { body: (operations[name] ?? ofMembers[name])?.body?.(about) });
  }

  function assertRefused(answer: ApiAnswer, status: number, code: string, what: string): void {
    assert.equal(answer.status, status, `${what}: ${answer.text}`);
    assert.equal(field(answer.json, 'error.code'), code, what);
  }

  /** Returns the things for an allowed request: new ones, unless the request only reads. */
  const thingsFor = (name: string) => (name.startsWith('GET ') ? things : newThings(service, team));

  /** Asserts that requests leave the data of a team unchanged. */
  async function changingNothing(
    of: { readonly api: ApiClient },
    requests: () => Promise<void>,
  ): Promise<void> {
    const before = await stateOf(of.api);
    await requests();
    assert.deepEqual(await stateOf(of.api), before, 'a refused request changed something');
  }

  /** Ids that do not exist. */
  const unknownThings = (): Things => {
    const { ids } = service.runtime;
    const [webhookId, rotatingWebhookId] = [ids.nextPublic('wh'), ids.nextPublic('wh')];
    return {
      ...{ ...things, webhookId, rotatingWebhookId, deliveryId: ids.nextPublic('dlv') },
      ...{ numberId: ids.nextPublic('num'), messageId: ids.nextPublic('msg'), keyId: ids.nextPublic('key') },
      ...{ memberId: ids.nextPublic('usr'), invitationId: ids.nextPublic('inv') },
      contactId: ids.nextPublic('con'),
      conversationId: ids.nextPublic('cnv'),
    };
  };
  /** Ids of another team. */
  const foreignThings = (): Things => {
    const {
      memberId,
      invitationId,
      webhookId,
      deliveryId,
      keyId,
      queuedId: messageId,
      conversationId,
      number,
      contactId,
    } = canary;
    const webhooks = { webhookId, rotatingWebhookId: webhookId, deliveryId };
    const { numberId } = number;
    const ofPeople = { memberId, invitationId, contactId };
    return { ...things, numberId, messageId, conversationId, keyId, ...ofPeople, ...webhooks };
  };

  it('each route is listed with its audience, and each operation of keys and members with its permission', () => {
    const served = Map.groupBy(service.app.routes, ({ audience }) => audience);
    const named = { ...otherRoutes, api: ofKeys.sort(), team: ofTeam.sort() };
    for (const [audience, names] of Object.entries(named)) {
      const routes = served.get(audience as Audience) ?? [];
      assert.deepEqual(routes.map(({ method, path }) => `${method} ${path}`).sort(), names, audience);
    }
    assert.equal(served.size, Object.keys(named).length);
    for (const { method, path, permission, audience } of service.app.routes) {
      const name = `${method} ${path}`;
      if (audience === 'api' || audience === 'team')
        assert.equal(permission, { ...operations, ...ofMembers }[name]?.permission, name);
    }
  });

  it('every operation answers 401 for a missing, empty, mistyped, unknown, wrongly prefixed or revoked key (§4/requests, §5.1/api-key)', async () => {
    const good = team.api.key;
    const swapped = `${good.slice(0, 12)}${good[13]}${good[12]}${good.slice(14)}`;
    const revoked = await service.makeKey(team.id, ['*']);
    assert.equal((await new ApiClient(service.baseUrl, revoked.key).get('/v1/team')).status, 200);
    await revokeKey(service.runtime, { keyId: revoked.id, by: operator });
    service.clock.advance(1_000);
    const keys = [
      ...['', 'x', newApiKey('a1b2'), good.slice(0, -1), `${good}0`, good.toUpperCase()],
      ...[good[12] === good[13] ? newApiKey('a1b2') : swapped, good.replace('own_live_', 'own_test_')],
      ...[`Bearer ${good}`, `${good}, ${good}`, revoked.key],
    ];
    await changingNothing(team, async () => {
      for (const key of keys) {
        for (const name of ofKeys) {
          const answer = await ask(new ApiClient(service.baseUrl, key), name, things);
          assertRefused(answer, 401, 'unauthorized', `${key} ${name}`);
          assert.match(answer.headers.get('request-id') ?? '', /^req_/);
          assert.equal(answer.headers.get('cache-control'), 'no-store');
          assert.ok(!answer.text.includes(good.slice(9)), 'an answer repeats the key');
        }
      }
    });
  });

  it('every operation of members and accounts refuses an API key, no session and an ended session with 401, and no operation of /v1 accepts a session', async () => {
    const gone = await newMember(service, team, 'owner');
    assert.equal((await gone.post('/app/account/sign-out-everywhere')).status, 200);
    const cookies = ['', gone.cookie, 'ownline=', `ownline=${'x'.repeat(43)}`, 'other=1'];
    const clients = [...cookies.map((cookie) => new PageClient(service.baseUrl, cookie)), team.api];
    await changingNothing(team, async () => {
      for (const client of clients) {
        for (const name of ofTeam)
          assertRefused(await ask(client, name, things), 401, 'unauthorized', `${name} with ${client.key}`);
        for (const name of otherRoutes.account) {
          const [method = '', path = ''] = name.replace(':id', 'x').split(' ');
          assertRefused(await client.request(method, path), 401, 'unauthorized', name);
        }
      }
      for (const name of ofKeys) assertRefused(await ask(owner, name, things), 401, 'unauthorized', name);
    });
  });

  it('a permission allows exactly its operations, and the permission * allows all (§4/requests)', async () => {
    for (const grant of [...permissions, '*'] as Grant[]) {
      const api = await service.newKey(team.id, [grant]);
      for (const [name, { permission, status }] of Object.entries(operations)) {
        const isReading = grant === 'messages:send' && permission === 'messages:read';
        if (grant === '*' || grant === permission || isReading) {
          const answer = await ask(api, name, await thingsFor(name));
          assert.equal(answer.status, status, `${grant}: ${name} ${answer.text}`);
        } else {
          await assertForbidden(api, name, permission);
        }
      }
    }
  });

  it('an operation refuses a key that has every permission except the required one, and changes nothing', async () => {
    await changingNothing(team, async () => {
      for (const [name, { permission }] of Object.entries(operations)) {
        const others = permissions.filter(
          (other) => other !== permission && !(permission === 'messages:read' && other === 'messages:send'),
        );
        await assertForbidden(await service.newKey(team.id, [...others]), name, permission);
      }
    });
  });

  async function assertForbidden(api: ApiClient, name: string, permission: Permission): Promise<void> {
    const answer = await ask(api, name, things);
    assertRefused(answer, 403, 'forbidden', name);
    assert.match(String(field(answer.json, 'error.message')), new RegExp(`${permission}\\b`));
  }

  // Roles with more refusals come first: each refusal reads the team's data, which grow with each allowed request.
  for (const role of roles.toReversed()) {
    it(`${role === 'owner' ? 'an' : 'a'} ${role} may use the operations of the role and no other (§5.3/owner, §5.3/admin, §5.3/member, §5.3/viewer)`, async () => {
      const refused = await newMember(service, team, role);
      const isAllowed = (name: string) => {
        const permission = ofMembers[name]?.permission;
        return permission === undefined || allows(roleGrants[role], permission);
      };
      await changingNothing(team, async () => {
        for (const name of ofTeam.filter((one) => !isAllowed(one))) {
          const answer = await ask(refused, name, things);
          assertRefused(answer, 403, 'forbidden', `${role}: ${name}`);
          const message = new RegExp(`${role}.*${ofMembers[name]?.permission}\\b`);
          assert.match(String(field(answer.json, 'error.message')), message);
        }
      });
      for (const name of ofTeam.filter(isAllowed)) {
        const operation = ofMembers[name];
        const about = await thingsFor(name);
        await operation?.prepare?.(about, owner);
        const sent = operation?.isStream ? name.replace('GET', 'HEAD') : name;
        const answer = await ask(await newMember(service, team, role), sent, about);
        const status = operation?.statusAs?.[role] ?? operation?.status;
        assert.equal(answer.status, status, `${role}: ${name} ${answer.text}`);
      }
    });
  }

  it('an account without a membership gets the answer of an unknown team on every team operation (§12.3/csrf-and-checks)', async () => {
    const stranger = await newMember(service, await service.newTeam(), 'owner');
    await changingNothing(team, async () => {
      for (const name of ofTeam) {
        const wanted = await ask(stranger, name, things, 'team_01h2xcejqtf2nbrexx3vqjhp41');
        assertRefused(wanted, 404, 'not_found', name);
        for (const teamId of [team.publicId, 'team_x', stranger.memberId])
          assert.equal((await ask(stranger, name, things, teamId)).text, wanted.text, name);
      }
    });
  });

  it('a person’s role in one team does not apply in another team (§12.1/account)', async () => {
    const person = await newPerson(service);
    const here = await join(service, team, person, 'viewer');
    const there = await join(service, await service.newTeam(), person, 'admin');
    const rename = (who: TeamMember) => who.put(who.in('/team'), { name: 'Renamed' });
    assert.deepEqual([(await rename(here)).status, (await rename(there)).status], [403, 200]);
  });

  it('ids of another team, and with keys also ids of deleted things, get the same bytes as unknown ids (§7.2/other-teams)', async () => {
    const gone = await newThings(service, team);
    for (const path of [
      `numbers/${gone.numberId}`,
      `team/members/${gone.memberId}`,
      `team/invitations/${gone.invitationId}`,
      `contacts/${gone.contactId}`,
      `webhooks/${gone.webhookId}`,
      `webhooks/${gone.rotatingWebhookId}`,
    ])
      assert.equal((await team.api.delete(`/v1/${path}`)).status, 200, path);
    // No request deletes a message, a conversation, a delivery or a revoked key, so those of the canary team are used.
    const { inboundId: messageId, conversationId, keyId } = canary;
    const deleted = { ...gone, messageId, conversationId, keyId };
    await changingNothing(canary.team, async () => {
      for (const [client, names, others] of [
        [team.api, ofKeys, [foreignThings(), deleted]],
        [owner, ofTeam, [foreignThings()]],
      ] as const) {
        for (const name of names.filter((operation) => operation.includes('/:id'))) {
          const never = unknownThings();
          const pairs = others.map((about): [Things, Things] => [about, never]);
          if (name.includes(':delivery_id'))
            pairs.push([
              { ...things, deliveryId: canary.deliveryId },
              { ...things, deliveryId: never.deliveryId },
            ]);
          for (const [about, unknown] of pairs) {
            const wanted = await ask(client, name, unknown);
            assertRefused(wanted, 404, 'not_found', name);
            assert.deepEqual(bytesOf(await ask(client, name, about)), bytesOf(wanted), name);
          }
        }
      }
    });
  });

  it('a phone number of another team gets the same answer as an unknown number (§7.2/other-teams)', async () => {
    const [taken, free, to] = ['+14155550110', '+14155550111', '+14155550101'];
    const other = await service.newTeam();
    const { wire } = await connectNumber(service, other, taken);
    await wire.call('inbound', { from: to, text: 'Hello' });
    await other.api.send({ from: taken, to, content: 'Hello' });
    const asFree = (text: string) => text.replaceAll(taken.slice(1), free.slice(1));
    await changingNothing(other, async () => {
      for (const [method, path, rawBody] of [
        ['POST', '/v1/messages/send', JSON.stringify({ from: taken, to, content: 'Hello' })],
        ['GET', `/v1/messages?from=${encodeURIComponent(taken)}`],
        ['GET', `/v1/messages?to=${encodeURIComponent(taken)}`],
      ] as const) {
        const answer = await team.api.request(method, path, rawBody ? { rawBody } : {});
        const wanted = await team.api.request(
          method,
          asFree(path),
          rawBody ? { rawBody: asFree(rawBody) } : {},
        );
        assert.deepEqual(bytesOf({ ...answer, text: asFree(answer.text) }), bytesOf(wanted), path);
      }
    });
  });

  it('the transactions of all requests of this test lock tables in the order of docs/internals/locks.md', () => {
    assert.deepEqual([...locks.wrong], []);
    assert.ok(locks.orders.size > 12, [...locks.orders].join('\n'));
  });
});

/** The answer without its request id and date. */
function bytesOf({ status, headers, text }: ApiAnswer) {
  const { 'request-id': _id, date: _date, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, text };
}
