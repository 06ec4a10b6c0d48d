import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planNames, plans } from '#contract/plans.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const to = '+14155550101';

describe('GET and PUT /v1/team (specification sections 2.2 and 4.1)', () => {
  const service = givenService();
  given(() => plantCanary(service));
  const team = given(() => service.newTeam({ plan: 'pro' }));

  it('GET shows the five fields of the team (§2.2/id, §2.2/created-at, §4.1/get-team)', async () => {
    const answer = await team.api.get('/v1/team');
    assert.equal(answer.status, 200);
    assert.match(String(answer.json.created_at), instant);
    assert.match(team.publicId, /^team_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.deepEqual(answer.json, {
      id: team.publicId,
      name: 'Example team',
      plan: 'pro',
      monthly_message_limit: 10_000,
      created_at: answer.json.created_at,
    });
  });

  it('GET shows each plan with its message limit, or with the limit that was set for the team (§2.2/plan, §2.2/monthly-message-limit, §8/plan-messages)', async () => {
    for (const plan of planNames) {
      const { api } = await service.newTeam({ plan });
      const { json } = await api.get('/v1/team');
      assert.deepEqual([json.plan, json.monthly_message_limit], [plan, plans[plan].monthlyMessages]);
    }
    const { api } = await service.newTeam({ plan: 'free', monthlyLimit: 7 });
    assert.equal((await api.get('/v1/team')).json.monthly_message_limit, 7);
  });

  it('PUT changes the name, answers with the whole team, and changes nothing else of it (§4.1/update-team)', async () => {
    const before = await team.api.get('/v1/team');
    const answer = await team.api.put('/v1/team', { name: 'Büro Süd' });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { ...before.json, name: 'Büro Süd' });
    assert.equal((await team.api.get('/v1/team')).text, answer.text);
  });

  it('PUT changes only the team of the key', async () => {
    const other = await service.newTeam();
    await team.api.put('/v1/team', { name: 'Only this one' });
    assert.equal((await other.api.get('/v1/team')).json.name, 'Example team');
  });

  it('PUT accepts names of 1 to 100 code points unchanged (§2.2/name, §4.1/update-team)', async () => {
    for (const name of [
      'a',
      ' ',
      'a'.repeat(100),
      '😀'.repeat(100),
      'e\u0301'.repeat(50),
      'null',
      '\ufeffa',
    ]) {
      const answer = await team.api.put('/v1/team', { name });
      assert.deepEqual([answer.status, answer.json.name], [200, name], answer.text);
      assert.equal((await team.api.get('/v1/team')).json.name, name);
    }
  });

  it('PUT with {}, an empty body or no body changes nothing and answers with the team (§4.1/no-ops-and-seats)', async () => {
    await team.api.put('/v1/team', { name: 'Stays' });
    const before = await team.api.get('/v1/team');
    for (const answer of [
      await team.api.put('/v1/team', {}),
      await team.api.request('PUT', '/v1/team', { rawBody: '' }),
      await team.api.request('PUT', '/v1/team'),
    ]) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, before.text);
    }
  });

  it('the audit log has the actor of a new name, and no entry if the name stays', async () => {
    await team.api.put('/v1/team', { name: 'Noted' });
    for (const body of [{}, { name: 'Noted' }, { name: '' }]) await team.api.put('/v1/team', body);
    const noted = (await storedAuditEntries(service, { teamId: team.id })).filter(
      ({ action, details, outcome }) =>
        action === 'team.renamed' && field(details, 'name') === 'Noted' && outcome === 'done',
    );
    assert.deepEqual(
      noted.map(({ actorKind, actorName, details }) => [actorKind, actorName, details]),
      [['key', 'test', { name: 'Noted' }]],
    );
  });

  it('PUT refuses invalid names and unknown fields, names the field, and changes nothing (§2.2/name, §4.1/update-team)', async () => {
    await team.api.put('/v1/team', { name: 'Stays' });
    const refused: [unknown, string][] = [
      [{ name: '' }, 'name'],
      [{ name: 'a'.repeat(101) }, 'name'],
      [{ name: '😀'.repeat(101) }, 'name'],
      [{ name: `${'e\u0301'.repeat(50)}a` }, 'name'],
      [{ name: '👨‍👩‍👧'.repeat(21) }, 'name'],
      [{ name: null }, 'name'],
      [{ name: 5 }, 'name'],
      [{ name: ['a'] }, 'name'],
      [{ name: 'a\u0000' }, 'name'],
      [{ name: 'a\ud800' }, 'name'],
      [{ name: 'Changed', plan: 'enterprise' }, 'plan'],
      [{ name: 'Changed', monthly_message_limit: 1_000_000 }, 'monthly_message_limit'],
      [{ id: team.publicId }, 'id'],
      [{ Name: 'Changed' }, 'Name'],
      [{ constructor: 'Changed' }, 'constructor'],
    ];
    for (const [body, param] of refused) {
      const answer = await team.api.put('/v1/team', body);
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
      assert.deepEqual(
        [field(answer.json, 'error.code'), field(answer.json, 'error.param')],
        ['invalid_request', param],
      );
    }
    assert.equal((await team.api.put('/v1/team', 'Changed')).status, 400);
    const query = await team.api.request('GET', '/v1/team?x=1');
    assert.deepEqual([query.status, field(query.json, 'error.param')], [400, 'x']);
    const { json } = await team.api.get('/v1/team');
    assert.deepEqual([json.name, json.plan, json.monthly_message_limit], ['Stays', 'pro', 10_000]);
  });
});

describe('ids of other teams (specification section 7.2)', () => {
  const { service, team } = givenTeam();

  /** The parts of an answer that must be equal: status, body, and all headers except request-id and date. */
  function comparable(answer: ApiAnswer): unknown {
    const headers = [...answer.headers].filter(([name]) => name !== 'request-id' && name !== 'date');
    return { status: answer.status, headers, text: answer.text };
  }

  it('an id of another team is answered exactly like a deleted and an unknown one, on every /v1 route with an id (§7.2/other-teams)', async () => {
    const canary = await plantCanary(service);
    const gone = await connectNumber(service, team, '+14155550150');
    const lost = await connectNumber(service, canary.team, '+14155550160');
    await team.api.delete(`/v1/numbers/${gone.numberId}`);
    await canary.team.api.delete(`/v1/numbers/${lost.numberId}`);
    const removed = await newMember(service, team, 'viewer');
    await team.api.delete(`/v1/team/members/${removed.memberId}`);
    const invited = { email: 'revoked@example.com', role: 'viewer' };
    const revoked = String((await team.api.post('/v1/team/members/invite', invited)).json.invitation_id);
    await team.api.delete(`/v1/team/invitations/${revoked}`);
    const unhooked = await newWebhook(team.api);
    await team.api.delete(`/v1/webhooks/${unhooked.id}`);
    const own = await newWebhook(team.api);
    const ofAnother = await newDelivery(service, team, (await newWebhook(team.api)).id);
    const never = '01h2xcejqtf2nbrexx3vqjhp41';
    // Ids with a wrong prefix, such as the number's id with a message's prefix.
    const swapped = (id: string, prefix: string) => id.replace(/^[a-z]+_/, `${prefix}_`);
    const ids: Readonly<Record<string, readonly string[]>> = {
      numbers: [
        canary.number.numberId,
        lost.numberId,
        gone.numberId,
        swapped(canary.queuedId, 'num'),
        canary.queuedId,
        publicId('team', canary.team.id),
        'num_x',
      ],
      messages: [
        canary.queuedId,
        canary.inboundId,
        swapped(canary.number.numberId, 'msg'),
        canary.number.numberId,
        'msg_x',
      ],
      members: [
        canary.memberId,
        removed.memberId,
        swapped(canary.invitationId, 'usr'),
        canary.queuedId,
        'usr_x',
      ],
      invitations: [canary.invitationId, revoked, swapped(canary.memberId, 'inv'), canary.queuedId, 'inv_x'],
      webhooks: [canary.webhookId, unhooked.id, swapped(canary.queuedId, 'wh'), canary.deliveryId, 'wh_x'],
      deliveries: [canary.deliveryId, ofAnother, swapped(canary.webhookId, 'dlv'), canary.queuedId, 'dlv_x'],
    };
    const prefixes: Readonly<Record<string, string>> = {
      numbers: 'num',
      messages: 'msg',
      members: 'usr',
      invitations: 'inv',
      webhooks: 'wh',
      deliveries: 'dlv',
    };
    const bodies: Readonly<Record<string, unknown>> = {
      'PUT /v1/team/members/:id/role': { role: 'viewer' },
      'PUT /v1/numbers/:id': { label: 'Mine', status: 'paused' },
      'PUT /v1/webhooks/:id': { active: false },
      'POST /v1/webhooks/:id/replay': { since: '2026-01-01T00:00:00Z', only: 'all' },
    };
    const routes = service.app.routes.filter(
      (route) => route.audience === 'api' && route.path.includes('/:id'),
    );
    const asked = routes.map((route) => `${route.method} ${route.path}`).sort();
    assert.deepEqual(asked, [
      'DELETE /v1/numbers/:id',
      'DELETE /v1/team/invitations/:id',
      'DELETE /v1/team/members/:id',
      'DELETE /v1/webhooks/:id',
      'GET /v1/messages/:id',
      'GET /v1/numbers/:id',
      'GET /v1/webhooks/:id',
      'GET /v1/webhooks/:id/deliveries',
      'GET /v1/webhooks/:id/deliveries/:delivery_id',
      'POST /v1/messages/:id/cancel',
      'POST /v1/numbers/:id/reconnect',
      'POST /v1/team/invitations/:id/resend',
      'POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver',
      'POST /v1/webhooks/:id/replay',
      'POST /v1/webhooks/:id/rotate-secret',
      'POST /v1/webhooks/:id/rotate-secret/finish',
      'POST /v1/webhooks/:id/test',
      'PUT /v1/numbers/:id',
      'PUT /v1/team/members/:id/role',
      'PUT /v1/webhooks/:id',
    ]);
    const state = async () => [
      (await canary.team.api.get('/v1/numbers')).text,
      (await canary.team.api.get('/v1/messages')).text,
      (await canary.team.api.get('/v1/team/members')).text,
      (await canary.team.api.get('/v1/team/invitations')).text,
      (await canary.team.api.get('/v1/webhooks')).text,
      (await canary.team.api.get(`/v1/webhooks/${canary.webhookId}/deliveries`)).text,
    ];
    const before = await state();
    /** Routes with one id to fill in. The delivery route comes twice: below a foreign webhook and below an own one. */
    const places = routes.flatMap((route) => [
      {
        route,
        kind: /(\w+)\/:id/.exec(route.path)?.[1] ?? '',
        path: route.path.replace(':delivery_id', canary.deliveryId),
      },
      ...(route.path.includes(':delivery_id')
        ? [
            {
              route,
              kind: 'deliveries',
              path: route.path.replace(':id', own.id).replace(':delivery_id', ':id'),
            },
          ]
        : []),
    ]);
    for (const { route, kind, path } of places) {
      const prefix = prefixes[kind];
      const ask = (id: string) =>
        team.api.request(route.method, path.replace(':id', id), {
          body: bodies[`${route.method} ${route.path}`],
        });
      const expected = comparable(await ask(`${prefix}_${never}`));
      assert.equal(field(expected, 'status'), 404);
      for (const id of ids[kind] ?? []) {
        assert.deepEqual(comparable(await ask(id)), expected, `${route.method} ${route.path} ${id}`);
      }
    }
    assert.deepEqual(await state(), before);
  });
});

describe('waiting_reason (§4.3/waiting-reason)', () => {
  const { service, team } = givenTeam();

  const reason = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json.waiting_reason;

  it('waiting_reason is phone_offline once the last poll is more than 5 minutes ago, and not before (§2.5/last-seen-at)', async () => {
    const number = await connectNumber(service, team, '+14155550170');
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'Hello' });
    const seen = Date.parse(String((await findNumber(team.api, number.phoneNumber))?.last_seen_at));
    await passServedTime(service, seen + 5 * 60_000 - 2_000 - service.clock.nowMs());
    assert.equal(await reason(id), null);
    await passServedTime(service, 3_000);
    assert.equal(await reason(id), 'phone_offline');
    assert.equal((await number.wire.poll()).id, id);
    assert.equal(await reason(id), null);
  });

  it('waiting_reason names the most actionable reason: pause, then offline phone, then busy phone', async () => {
    const number = await connectNumber(service, team, '+14155550180');
    const held = await team.api.send({ from: number.phoneNumber, to, content: 'held' });
    const waiting = await team.api.send({ from: number.phoneNumber, to, content: 'waiting' });
    assert.equal(await reason(waiting), 'earlier_message');
    assert.equal((await number.wire.poll()).id, held);
    assert.equal(await reason(waiting), 'phone_busy');
    await passServedTime(service, 5 * 60_000 + 1_000);
    assert.equal(await reason(waiting), 'phone_offline');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal(await reason(waiting), 'number_paused');
    assert.equal(await reason(held), null);
  });

  it('waiting_reason is per number: messages that wait for another phone of the team do not affect it', async () => {
    const one = await connectNumber(service, team, '+14155550190');
    const other = await connectNumber(service, team, '+14155550191');
    await team.api.send({ from: one.phoneNumber, to, content: 'earlier, elsewhere' });
    const id = await team.api.send({ from: other.phoneNumber, to, content: 'Hello' });
    assert.equal(await reason(id), null);
    await one.wire.poll();
    assert.equal(await reason(id), null);
  });
});
