import { publicId } from '#server/platform/ids.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { ApiClient, canaryMark, canaryPhone, field } from './api-client.ts';
import type { TestService } from './test-service.ts';

/** Client of the canary team itself, the only one that may see the team's strings. */
class CanaryClient extends ApiClient {
  protected override checkAnswer(): void {}
}

/**
 * Makes the canary team, whose data no other team may ever see (specification section 2.1). Every ApiClient searches
 * all answers for the canary's strings, so each test of a file that makes the team checks that.
 */
export async function plantCanary(service: TestService) {
  const made = await service.newTeam();
  const team = { ...made, api: new CanaryClient(service.baseUrl, made.api.key) };
  await service.query('UPDATE teams SET name = $2 WHERE id = $1', [team.id, `Team ${canaryMark}`]);
  const number = await connectNumber(service, team, canaryPhone);
  await team.api.put(`/v1/numbers/${number.numberId}`, { label: `Label ${canaryMark}` });
  const queuedId = await team.api.send(
    { from: canaryPhone, to: '+14155550197', content: `Outbound ${canaryMark}` },
    `key-${canaryMark}`,
  );
  const inbound = await number.wire.call('inbound', { from: '+14155550197', text: `Inbound ${canaryMark}` });
  const { memberId } = await newMember(service, team, 'member', {
    email: `member-${canaryMark}@example.com`,
    name: `Member ${canaryMark}`,
  });
  const person = { name: `Contact ${canaryMark}`, handles: [`${canaryMark}@example.com`], note: canaryMark };
  const url = `https://receiver.invalid/${canaryMark}`;
  const webhook = await newWebhook(team.api, { url, phone_number: canaryPhone });
  const invited = { email: `invited-${canaryMark}@example.com`, role: 'viewer' };
  const invitation = await team.api.post('/v1/team/members/invite', invited);
  return {
    team,
    number,
    queuedId,
    contactId: String((await team.api.post('/v1/contacts', person)).json.id),
    inboundId: inbound.id ?? '',
    conversationId: String(field((await team.api.get('/v1/conversations')).json, 'conversations.0.id')),
    memberId,
    invitationId: String(invitation.json.invitation_id),
    webhookId: webhook.id,
    deliveryId: await newDelivery(service, team, webhook.id),
    keyId: publicId('key', (await service.makeKey(team.id, ['team:read'])).id),
  };
}
