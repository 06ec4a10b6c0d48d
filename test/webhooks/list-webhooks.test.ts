import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newMember } from '#test/support/people/people.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newWebhook, nowhere } from '#test/support/webhooks/make-webhooks.ts';

describe('GET /v1/webhooks and GET /v1/webhooks/:id (specification section 4.4)', () => {
  const service = givenService({ ROLES: 'api,maintain' });
  given(() => plantCanary(service));

  it('the list of a team without webhooks is empty', async () => {
    const { api } = await service.newTeam();
    assert.deepEqual((await api.get('/v1/webhooks')).json, { webhooks: [] });
  });

  it('each webhook in the list has eight fields, oldest first, disabled ones included, and never a secret', async () => {
    const { api } = await service.newTeam();
    const made = [await newWebhook(api), await newWebhook(api, { events: ['message.sent'] })];
    await api.put(`/v1/webhooks/${made[0]?.id}`, { active: false });
    const { json } = await api.get('/v1/webhooks');
    const webhooks = json.webhooks as Record<string, unknown>[];
    assertEach(webhooks, ({ id, active }) => [id, active], [
      [made[0]?.id, false],
      [made[1]?.id, true],
    ]);
    const { created_at, ...second } = webhooks[1] ?? {};
    assert.match(String(created_at), /Z$/);
    assert.deepEqual(second, {
      id: made[1]?.id,
      url: nowhere,
      events: ['message.sent'],
      phone_number: null,
      active: true,
      failure_count: 0,
      last_triggered_at: null,
      next_secret_takes_over_at: null,
    });
    assert.deepEqual((await api.get(`/v1/webhooks/${made[1]?.id}`)).json, webhooks[1]);
  });

  it('viewers can see webhooks, and can’t change them (section 5.3)', async () => {
    const team = await service.newTeam();
    const { id } = await newWebhook(team.api);
    const viewer = await newMember(service, team, 'viewer');
    assert.equal(
      (await viewer.get(viewer.in(`/webhooks/${id}`))).text,
      (await team.api.get(`/v1/webhooks/${id}`)).text,
    );
    assert.equal((await viewer.put(viewer.in(`/webhooks/${id}`), { active: false })).status, 403);
    const reader = await service.newKey(team.id, ['team:read', 'messages:read', 'numbers:read']);
    assert.equal((await reader.get('/v1/webhooks')).status, 403);
  });
});
