import { receive, sendNext } from '#test/support/dashboard/conversations.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { newDelivery, newWebhook } from '#test/support/webhooks/make-webhooks.ts';

/** A team with content on each page, in states that need a person, and with names and texts that are hard to show. */
export interface FullTeam {
  readonly owner: TeamMember;
  /** Values for the parameters of routes. */
  readonly values: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly deliveryId: string;
}

const contact = '+14155550142';
/** A name without a line break opportunity. */
const longName = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(2);
/** Reverses the direction of the text after it. Names may not contain it, texts of contacts may. */
const rightToLeft = '\u202e';

export async function givenFullTeam(service: TestService): Promise<FullTeam> {
  const team = await service.newTeam({ plan: 'pro' });
  await team.api.put('/v1/team', { name: longName.slice(0, 60) });
  const owner = await newMember(service, team, 'owner', { name: 'Ada Example' });
  await newMember(service, team, 'member', { name: longName });
  const { api } = team;
  const [front, other] = [await connectNumber(service, team), await connectNumber(service, team)];
  const change = (id: string, fields: object) => ok(api.put(`/v1/numbers/${id}`, fields));
  await change(front.numberId, { label: longName.slice(0, 50) });
  await ok(api.post('/v1/numbers/verify', { phone_number: '+14155550199' }));

  const send = async (from: string, to: string, content: string) =>
    String((await ok(owner.post(owner.in('/messages/send'), { from, to, content }))).id);
  await receive(front, contact, `See https://example.com/${'a-long-path/'.repeat(20)} ${'x'.repeat(400)}`);
  await receive(
    front,
    'ada.with.a.very.long.address.that.has.no.break@example.com',
    `${rightToLeft}${longName}`,
  );
  await send(front.phoneNumber, contact, 'Delivered');
  await sendNext(front);
  await send(front.phoneNumber, contact, 'Refused');
  const { id = '' } = await front.wire.poll();
  await front.wire.call('status', { id, status: 'failed', error: `no such number ${'x'.repeat(200)}` });
  const messageId = await send(other.phoneNumber, contact, 'Waiting '.repeat(100));
  await change(other.numberId, { status: 'paused' });
  await ok(
    api.post('/v1/contacts', { name: longName, handles: [contact, 'ada@example.com'], note: longName }),
  );
  await receive(front, '+14155550150', 'STOP');
  await front.wire.poll();

  await ok(owner.post(owner.in('/keys'), { name: longName, permissions: ['team:read', 'messages:send'] }));
  await ok(api.post('/v1/team/members/invite', { email: `${'x'.repeat(60)}@example.com`, role: 'admin' }));
  const webhook = await newWebhook(api, { url: `https://receiver.invalid/${'long-path/'.repeat(20)}` });
  await newDelivery(service, team, webhook.id, { status: 'succeeded', ageMs: 60_000 });
  const deliveryId = await newDelivery(service, team, webhook.id, { status: 'failed' });
  const values = {
    phoneNumber: front.phoneNumber,
    contact,
    id: front.numberId,
    webhookId: webhook.id,
  };
  return { owner, values, messageId, deliveryId };
}

/** Awaits an answer. @throws unless it is a success */
async function ok<Answer extends { readonly status: number; readonly text: string; readonly json: object }>(
  asked: Promise<Answer>,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, text, json } = await asked;
  if (status >= 300) throw new Error(`a request was answered ${status}: ${text}`);
  return json as Readonly<Record<string, unknown>>;
}
