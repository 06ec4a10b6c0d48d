import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newAttempt, newDelivery, nowhere } from '#test/support/webhooks/make-webhooks.ts';

const from = '+14155550100';
const to = '+14155550101';

/** Calls each operation successfully once. `npm run referees` compares the answers with the OpenAPI document. */
describe('every operation of the OpenAPI document (specification section 4)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });

  it('every operation succeeds, with empty fields and with filled ones', async () => {
    const team = await service.newTeam();
    const { numberId, wire } = await connectNumber(service, team, from);
    const succeeded: string[] = [];
    const call = async (method: string, pattern: string, ids = '', body?: unknown, query = '') => {
      const [id = '', deliveryId = ''] = ids.split(' ');
      const path = pattern.replace('{id}', id).replace('{delivery_id}', deliveryId).replace('{contact}', id);
      const answer = await team.api.request(method, `${path}${query}`, { body });
      assert.ok(answer.status < 300, `${method} ${pattern}: ${answer.text}`);
      succeeded.push(`${method} ${pattern}`);
      return answer.json;
    };

    await call('PUT', '/v1/team', '', { name: 'Example Ltd' });
    await call('GET', '/v1/team');

    const { memberId } = await newMember(service, team, 'viewer');
    await call('GET', '/v1/team/members');
    await call('PUT', '/v1/team/members/{id}/role', memberId, { role: 'member' });
    await call('DELETE', '/v1/team/members/{id}', memberId, undefined, '?revoke_keys=true');
    const invite = { email: 'ada@example.com', role: 'admin' };
    const invitation = await call('POST', '/v1/team/members/invite', '', invite);
    const invitations = await call('GET', '/v1/team/invitations', '', undefined, '?limit=1');
    await call('GET', '/v1/team/invitations', '', undefined, `?cursor=${invitations.cursor}`);
    const id = String(invitation.invitation_id);
    const again = await call('POST', '/v1/team/invitations/{id}/resend', id);
    await call('DELETE', '/v1/team/invitations/{id}', String(again.invitation_id));

    await call('POST', '/v1/numbers/verify', '', { phone_number: '+14155550102' });
    await call('PUT', '/v1/numbers/{id}', numberId, {
      label: 'Support',
      on_unconfirmed: 'retry_once',
      pacing: { mode: 'strict', messages_per_hour: 50 },
    });
    await call('GET', '/v1/numbers');
    await call('GET', '/v1/numbers/{id}', numberId);

    const message = { from, to, content: 'Your table is ready.' };
    const failed = String((await call('POST', '/v1/messages/send', '', message)).id);
    await wire.poll();
    await wire.poll({ last: failed, last_status: 'failed', last_error: 'no network' });
    const delivered = await team.api.send(message, 'every-operation');
    assert.equal(await team.api.send(message, 'every-operation'), delivered);
    await wire.poll();
    const cancelled = await team.api.send({ ...message, content: 'Or is it?' });
    await call('GET', '/v1/messages/{id}', cancelled);
    await call('POST', '/v1/messages/{id}/cancel', cancelled);
    await wire.poll({ last: delivered });
    await wire.call('status', { id: delivered, status: 'delivered' });
    await wire.call('inbound', { from: 'someone@example.com', text: 'Thank you' });
    for (const id of [failed, delivered]) await call('GET', '/v1/messages/{id}', id);
    await call('GET', '/v1/messages');
    const filters = `from=%2B14155550100&to=%2B14155550101&status=delivered&direction=outbound&limit=1`;
    const page = await call('GET', '/v1/messages', '', undefined, `?${filters}`);
    await call('GET', '/v1/messages', '', undefined, `?${filters}&cursor=${page.cursor}`);

    await call('PUT', '/v1/opt-outs/{contact}', '%2B14155550103');
    await wire.call('inbound', { from: '+14155550104', text: 'STOP' });
    const optOuts = await call('GET', '/v1/opt-outs', '', undefined, '?limit=1');
    await call('GET', '/v1/opt-outs', '', undefined, `?cursor=${optOuts.cursor}`);
    await call('DELETE', '/v1/opt-outs/{contact}', '%2B14155550103');

    const events = await call('GET', '/v1/events', '', undefined, '?wait=25&limit=1');
    await call('GET', '/v1/events', '', undefined, `?after=${events.cursor}&wait=0`);
    const webhook = { url: nowhere, events: ['message.sent', 'message.failed'], phone_number: from };
    const webhookId = String((await call('POST', '/v1/webhooks', '', webhook)).id);
    await call('POST', '/v1/webhooks', '', { url: nowhere, events: ['message.received'] });
    await call('GET', '/v1/webhooks');
    await call('GET', '/v1/webhooks/{id}', webhookId);
    await call('POST', '/v1/webhooks/{id}/test', webhookId);
    const deliveryId = await newDelivery(service, team, webhookId, { eventType: 'message.sent' });
    const skippedId = await newDelivery(service, team, webhookId, { status: 'skipped' });
    await newAttempt(service, team, deliveryId, { outcome: 'dns', statusCode: null });
    await newAttempt(service, team, deliveryId, { body: Buffer.from('Not now.') });
    await newAttempt(service, team, deliveryId, { outcome: 'succeeded', statusCode: 204 });
    const ofWebhook = '/v1/webhooks/{id}/deliveries';
    const deliveries = await call('GET', ofWebhook, webhookId, undefined, '?status=failed&limit=1');
    await call(
      'GET',
      ofWebhook,
      webhookId,
      undefined,
      `?event_type=message.sent&cursor=${deliveries.cursor}`,
    );
    await call('GET', `${ofWebhook}/{delivery_id}`, `${webhookId} ${deliveryId}`);
    await call('GET', `${ofWebhook}/{delivery_id}`, `${webhookId} ${skippedId}`);
    await call('POST', `${ofWebhook}/{delivery_id}/redeliver`, `${webhookId} ${deliveryId}`);
    const missed = { since: '2026-01-01T00:00:00Z', until: '2096-01-01T00:00:00.000+01:00', only: 'all' };
    await call('POST', '/v1/webhooks/{id}/replay', webhookId, missed);
    await call('POST', '/v1/webhooks/{id}/rotate-secret', webhookId);
    await call('POST', '/v1/webhooks/{id}/rotate-secret/finish', webhookId);
    await call('PUT', '/v1/webhooks/{id}', webhookId, { active: false, phone_number: null });
    await call('DELETE', '/v1/webhooks/{id}', webhookId);

    await call('POST', '/v1/numbers/{id}/reconnect', numberId);
    await call('DELETE', '/v1/numbers/{id}', numberId);
    assert.deepEqual(await documentedOperations(), [...new Set(succeeded)].sort());
  });

  async function documentedOperations(): Promise<string[]> {
    const { json } = await new ApiClient(service.baseUrl, '').get('/v1/openapi.json');
    return Object.entries(json.paths as Record<string, object>)
      .flatMap(([path, operations]) =>
        Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
      )
      .sort();
  }
});
