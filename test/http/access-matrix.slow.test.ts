import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Grant, type Permission, permissions } from '#contract/permissions.ts';
import { newApiKey } from '#server/api-keys/api-key.ts';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import { operator } from '#server/platform/actor.ts';
import type { Audience } from '#server/platform/http/route.ts';
import {
  addressOf,
  newThings,
  operations,
  sender,
  stateOf,
  type Things,
} from '#test/support/http/operations.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const from = sender;
const to = '+14155550101';

/** Routes without an API key, by audience. A new route has to be added here, so that none is open by mistake. */
const withoutKey: Readonly<
  Record<Exclude<Audience, 'api' | 'team' | 'account' | 'visitor'>, readonly string[]>
> = {
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
    'GET /assets/:name',
    'GET /billing',
    'GET /docs',
    'GET /docs/js/scalar.js',
    'GET /favicon.ico',
    'GET /fonts/inter-latin.woff2',
    'GET /invite/:token',
    'GET /link/:token',
    'GET /media/:id/:token/:name',
    'GET /setup/:token',
    'GET /setup/:token/files/:name',
    'GET /setup/:token/progress',
    'GET /sign-in',
    'GET /teams/:team_id',
    'GET /teams/:team_id/:page',
    'GET /teams/:team_id/:page/:id',
    'GET /teams/:team_id/:page/:id/:part',
    'GET /v1/openapi.json',
    'POST /billing',
    'POST /invite/:token',
    'POST /link/:token',
    'POST /setup/:token',
    'POST /setup/:token/done',
    'POST /setup/:token/lock-test',
    'POST /setup/:token/test-text',
    'POST /setup/:token/ticks',
    'POST /sign-in',
    'POST /sign-out',
  ],
  // These routes show nothing of a team. Only a holder of SECRETS_KEY can make a ticket for the probe.
  operations: ['GET /healthz', 'GET /metrics', 'GET /readyz', 'POST /v1/device/probe/:ticket'],
};

describe('the permissions of keys (specification sections 5.1 and 5.2)', () => {
  let things: Things;
  // Without a dispatcher, deliveries do not change the state that refused requests must leave alone.
  const service = givenService({ ROLES: 'api,maintain' });
  const canary = given(() => plantCanary(service));
  const team = given(() => service.newTeam());

  before(async () => {
    await connectNumber(service, team, from);
    things = await newThings(service, team);
  });

  function ask(api: ApiClient, name: string, about: Things): Promise<ApiAnswer> {
    const [method = '', pattern = ''] = name.split(' ');
    return api.request(method, addressOf(pattern, about, method), { body: operations[name]?.body?.(about) });
  }

  const served = (audience: Audience) =>
    service.app.routes
      .filter((route) => route.audience === audience)
      .map((route) => `${route.method} ${route.path}`)
      .sort();

  it('the table in this test has exactly the operations that the server serves, with their permissions (§5.2/permissions)', () => {
    assert.deepEqual(Object.keys(operations).sort(), served('api'));
    for (const route of service.app.routes.filter(({ audience }) => audience === 'api')) {
      assert.equal(route.permission, operations[`${route.method} ${route.path}`]?.permission, route.path);
    }
  });

  it('this test lists every route that needs no API key, by audience', () => {
    for (const [audience, routes] of Object.entries(withoutKey)) {
      assert.deepEqual(served(audience as Audience), routes, audience);
    }
    const ofPeople: readonly Audience[] = ['team', 'account', 'visitor'];
    assert.equal(
      service.app.routes.filter(({ audience }) => !ofPeople.includes(audience)).length,
      Object.keys(operations).length + Object.values(withoutKey).flat().length,
      'a route of an audience that this test does not know',
    );
  });

  it('every operation answers 401 for a missing, empty, mistyped, unknown, wrongly prefixed or revoked key (§4/requests, §5.1/api-key, §7.1/status-401)', async () => {
    const good = team.api.key;
    const swapped = `${good.slice(0, 12)}${good[13]}${good[12]}${good.slice(14)}`;
    const keys = [
      '',
      'x',
      newApiKey('a1b2'),
      good.slice(0, -1),
      `${good}0`,
      good.toUpperCase(),
      good[12] === good[13] ? newApiKey('a1b2') : swapped,
      good.replace('own_live_', 'own_test_'),
      `Bearer ${good}`,
      `${good}, ${good}`,
      await revokedKey(),
    ];
    const before = await stateOf(team.api);
    for (const key of keys) {
      const api = new ApiClient(service.baseUrl, key);
      for (const name of Object.keys(operations)) {
        const answer = await ask(api, name, things);
        assert.equal(answer.status, 401, `${key} ${name}: ${answer.text}`);
        assert.equal(field(answer.json, 'error.code'), 'unauthorized');
        assert.match(answer.headers.get('request-id') ?? '', /^req_/);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.ok(!answer.text.includes(good.slice(9)), 'an answer repeats the key');
      }
    }
    assert.deepEqual(await stateOf(team.api), before, 'a refused request changed something');
  });

  /** A revoked key that was accepted before. */
  async function revokedKey(): Promise<string> {
    const { id, key } = await service.makeKey(team.id, ['*']);
    assert.equal((await new ApiClient(service.baseUrl, key).get('/v1/team')).status, 200);
    await revokeKey(service.runtime, { teamId: team.id, keyId: id, by: operator });
    service.clock.advance(1_000);
    return key;
  }

  it('a permission allows exactly its operations, and * allows all (§4/requests, §4.1/get-team, §4.1/update-team, §4.2/verify, §4.2/list-numbers, §4.2/update-number, §4.2/delete-number, §4.2/reconnect, §4.2/get-number, §4.3/send, §4.3/get-message, §4.3/list-messages, §4.3/cancel, §4.4/permissions, §4.5/list-events, §5.2/permissions)', async () => {
    for (const grant of [...permissions, '*'] as Grant[]) {
      const api = await service.newKey(team.id, [grant]);
      for (const [name, { permission, status }] of Object.entries(operations)) {
        const isReading = grant === 'messages:send' && permission === 'messages:read';
        if (grant === '*' || grant === permission || isReading) {
          const answer = await ask(api, name, await newThings(service, team));
          assert.equal(answer.status, status, `${grant}: ${name} ${answer.text}`);
        } else {
          await assertForbidden(api, name, permission);
        }
      }
    }
  });

  it('an operation refuses a key that has every permission but its own, and changes nothing (§5.2/permissions, §7.1/status-403)', async () => {
    const before = await stateOf(team.api);
    for (const [name, { permission }] of Object.entries(operations)) {
      const others = permissions.filter(
        (other) => other !== permission && !(permission === 'messages:read' && other === 'messages:send'),
      );
      await assertForbidden(await service.newKey(team.id, [...others]), name, permission);
    }
    assert.deepEqual(await stateOf(team.api), before, 'a refused request changed something');
  });

  async function assertForbidden(api: ApiClient, name: string, permission: Permission): Promise<void> {
    const answer = await ask(api, name, things);
    assert.equal(answer.status, 403, `${name}: ${answer.text}`);
    assert.equal(field(answer.json, 'error.code'), 'forbidden');
    assert.match(String(field(answer.json, 'error.message')), new RegExp(`${permission}\\b`));
  }

  /** Things of the team that were deleted, but for a message and a delivery, which no request deletes. */
  async function deletedThings(): Promise<Things> {
    const gone = await newThings(service, team);
    for (const path of [
      `numbers/${gone.numberId}`,
      `team/members/${gone.memberId}`,
      `team/invitations/${gone.invitationId}`,
      `webhooks/${gone.webhookId}`,
      `webhooks/${gone.rotatingWebhookId}`,
    ])
      assert.equal((await team.api.delete(`/v1/${path}`)).status, 200, path);
    return { ...gone, messageId: canary.inboundId };
  }

  it('ids of another team and of deleted things are answered byte for byte like unknown ids (§7.2/other-teams)', async () => {
    const before = await stateOf(canary.team.api);
    const gone = await deletedThings();
    const { ids } = service.runtime;
    for (const name of Object.keys(operations).filter((operation) => operation.includes(':id'))) {
      const never = {
        ...things,
        numberId: ids.nextPublic('num'),
        messageId: ids.nextPublic('msg'),
        memberId: ids.nextPublic('usr'),
        invitationId: ids.nextPublic('inv'),
        webhookId: ids.nextPublic('wh'),
        rotatingWebhookId: ids.nextPublic('wh'),
        deliveryId: ids.nextPublic('dlv'),
      };
      const wanted = await ask(team.api, name, never);
      assert.equal(wanted.status, 404, `${name}: ${wanted.text}`);
      const { memberId, invitationId, webhookId, deliveryId, queuedId: messageId } = canary;
      const webhooks = { webhookId, rotatingWebhookId: webhookId, deliveryId };
      const { numberId } = canary.number;
      const foreign = { ...things, numberId, messageId, memberId, invitationId, ...webhooks };
      for (const about of [foreign, gone]) {
        assert.deepEqual(bytesOf(await ask(team.api, name, about)), bytesOf(wanted), name);
      }
      if (!name.includes(':delivery_id')) continue;
      const ofOwnWebhook = await ask(team.api, name, { ...things, deliveryId });
      const unknown = await ask(team.api, name, { ...things, deliveryId: never.deliveryId });
      assert.deepEqual(bytesOf(ofOwnWebhook), bytesOf(unknown), name);
    }
    assert.deepEqual(await stateOf(canary.team.api), before, 'another team’s request changed something');
  });

  it('a phone number of another team is answered like an unknown one (§7.2/other-teams)', async () => {
    const [taken, free] = ['+14155550110', '+14155550111'];
    const other = await service.newTeam();
    const { wire } = await connectNumber(service, other, taken);
    await wire.call('inbound', { from: to, text: 'Hello' });
    await other.api.send({ from: taken, to, content: 'Hello' });
    const requests: [string, string, unknown?][] = [
      ['POST', '/v1/messages/send', { from: taken, to, content: 'Hello' }],
      ['GET', `/v1/messages?from=${encodeURIComponent(taken)}`],
      ['GET', `/v1/messages?to=${encodeURIComponent(taken)}`],
    ];
    const before = await stateOf(other.api);
    for (const [method, path, body] of requests) {
      const asFree = (text: string) => text.replaceAll(taken.slice(1), free.slice(1));
      const answer = await team.api.request(method, path, { body });
      const freeBody = body === undefined ? undefined : JSON.parse(asFree(JSON.stringify(body)));
      const wanted = await team.api.request(method, asFree(path), { body: freeBody });
      assert.deepEqual(bytesOf({ ...answer, text: asFree(answer.text) }), bytesOf(wanted), path);
    }
    assert.deepEqual(await stateOf(other.api), before, 'another team’s request changed something');
  });
});

/** The answer without its request id and date. */
function bytesOf({ status, headers, text }: ApiAnswer) {
  const { 'request-id': _id, date: _date, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, text };
}
