import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { newMember } from '#test/support/people/people.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { newDelivery, newWebhook, nowhere } from '#test/support/webhooks/make-webhooks.ts';

/** Phone number from which the operations send. The caller connects its phone. */
export const sender = '+14155550100';
const to = '+14155550101';

/** Targets of a request. They are made anew for each allowed request, which may use them up. */
export interface Things {
  readonly numberId: string;
  readonly messageId: string;
  /** A number that no team has. */
  readonly phoneNumber: string;
  readonly memberId: string;
  readonly invitationId: string;
  /** Key that the operator made. */
  readonly keyId: string;
  /** An address without an account. */
  readonly email: string;
  /** A contact who has opted out. */
  readonly contact: string;
  readonly webhookId: string;
  /** Webhook during a rotation of its secret. */
  readonly rotatingWebhookId: string;
  /** A failed delivery of `webhookId`. */
  readonly deliveryId: string;
}

export interface Operation {
  readonly permission: Permission;
  /** Permission that a member needs, if it differs from that of a key. */
  readonly memberPermission?: PersonalPermission;
  readonly status: number;
  readonly body?: (things: Things) => unknown;
}

const seesWebhooks: Operation = {
  permission: 'webhooks:manage',
  memberPermission: 'webhooks:read',
  status: 200,
};

/** Every operation of /v1 with its permission and a valid request. A missing operation fails two tests. */
export const operations: Readonly<Record<string, Operation>> = {
  'GET /v1/team': { permission: 'team:read', status: 200 },
  'PUT /v1/team': { permission: 'team:write', status: 200, body: () => ({ name: 'Renamed' }) },
  'GET /v1/team/members': { permission: 'team:read', status: 200 },
  'PUT /v1/team/members/:id/role': {
    permission: 'team:write',
    status: 200,
    body: () => ({ role: 'member' }),
  },
  'DELETE /v1/team/members/:id': { permission: 'team:write', status: 200 },
  'POST /v1/team/members/invite': {
    permission: 'team:write',
    status: 201,
    body: ({ email }) => ({ email, role: 'viewer' }),
  },
  'GET /v1/team/invitations': { permission: 'team:read', status: 200 },
  'POST /v1/team/invitations/:id/resend': { permission: 'team:write', status: 201 },
  'DELETE /v1/team/invitations/:id': { permission: 'team:write', status: 200 },
  'GET /v1/numbers': { permission: 'numbers:read', status: 200 },
  'GET /v1/numbers/:id': { permission: 'numbers:read', status: 200 },
  'POST /v1/numbers/verify': {
    permission: 'numbers:write',
    status: 200,
    body: ({ phoneNumber }) => ({ phone_number: phoneNumber }),
  },
  'POST /v1/numbers/:id/reconnect': { permission: 'numbers:write', status: 200 },
  'PUT /v1/numbers/:id': {
    permission: 'numbers:write',
    status: 200,
    body: () => ({ label: 'Support', status: 'paused', on_unconfirmed: 'fail', pacing: null }),
  },
  'DELETE /v1/numbers/:id': { permission: 'numbers:write', status: 200 },
  'POST /v1/messages/send': {
    permission: 'messages:send',
    status: 202,
    body: () => ({ to, from: sender, content: 'Hello', media_url: null }),
  },
  'GET /v1/messages': { permission: 'messages:read', status: 200 },
  'GET /v1/messages/:id': { permission: 'messages:read', status: 200 },
  'GET /v1/opt-outs': { permission: 'messages:read', status: 200 },
  'PUT /v1/opt-outs/:contact': { permission: 'messages:send', status: 200 },
  'DELETE /v1/opt-outs/:contact': { permission: 'messages:send', status: 200 },
  'GET /v1/events': { permission: 'messages:read', status: 200 },
  'POST /v1/messages/:id/cancel': { permission: 'messages:send', status: 200 },
  'GET /v1/webhooks': seesWebhooks,
  'GET /v1/webhooks/:id': seesWebhooks,
  'POST /v1/webhooks': {
    permission: 'webhooks:manage',
    status: 201,
    body: () => ({ url: nowhere, events: ['message.sent'], phone_number: null }),
  },
  'PUT /v1/webhooks/:id': {
    permission: 'webhooks:manage',
    status: 200,
    body: () => ({ url: nowhere, events: ['message.sent'], active: false, phone_number: null }),
  },
  'DELETE /v1/webhooks/:id': { permission: 'webhooks:manage', status: 200 },
  'POST /v1/webhooks/:id/rotate-secret': { permission: 'webhooks:manage', status: 200 },
  'POST /v1/webhooks/:id/rotate-secret/finish': { permission: 'webhooks:manage', status: 200 },
  'GET /v1/webhooks/:id/deliveries': seesWebhooks,
  'GET /v1/webhooks/:id/deliveries/:delivery_id': seesWebhooks,
  'POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver': { permission: 'webhooks:manage', status: 202 },
  'POST /v1/webhooks/:id/replay': {
    permission: 'webhooks:manage',
    status: 202,
    body: () => ({ since: '2026-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z', only: 'all' }),
  },
  'POST /v1/webhooks/:id/test': { permission: 'webhooks:manage', status: 202 },
};

const idOf: Readonly<Record<string, (things: Things, pattern: string, method: string) => string>> = {
  numbers: ({ numberId }) => numberId,
  messages: ({ messageId }) => messageId,
  members: ({ memberId }) => memberId,
  owners: ({ memberId }) => memberId,
  invitations: ({ invitationId }) => invitationId,
  keys: ({ keyId }) => keyId,
  'opt-outs': ({ contact, phoneNumber }, _pattern, method) =>
    encodeURIComponent(method === 'DELETE' ? contact : phoneNumber),
  webhooks: ({ webhookId, rotatingWebhookId }, pattern) =>
    pattern.endsWith('/finish') ? rotatingWebhookId : webhookId,
  deliveries: ({ deliveryId }) => deliveryId,
};

/** Fills the ids into a path: `/v1/numbers/num_…` for `/v1/numbers/:id`. @throws for an id that things lack */
export function addressOf(pattern: string, things: Things, method: string): string {
  const ofConversation = pattern.replace(
    ':phone_number/:contact',
    [sender, to].map(encodeURIComponent).join('/'),
  );
  return ofConversation.replaceAll(/([\w-]+)\/:(?:id|delivery_id|contact)/g, (_match, noun: string) => {
    const id = idOf[noun]?.(things, pattern, method);
    if (id === undefined) throw new Error(`no id is known for the path ${pattern}`);
    return `${noun}/${id}`;
  });
}

let made = 0;

/**
 * Makes a pending number, a queued message, a viewer, an open invitation, webhooks and a failed delivery.
 * The sender has to be connected. One number belongs to no team, and one address to no account.
 */
export async function newThings(service: TestService, team: TestTeam): Promise<Things> {
  made += 1;
  const phoneNumber = `+4420794${String(made).padStart(5, '0')}`;
  await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
  // A team has at most 100 webhooks. Those of the first call stay, for requests that are refused.
  const { webhooks } = (await team.api.get('/v1/webhooks')).json;
  const earlier = Array.isArray(webhooks) ? webhooks.slice(2) : [];
  for (const { id } of earlier) await team.api.delete(`/v1/webhooks/${id}`);
  const [webhook, rotating] = [await newWebhook(team.api), await newWebhook(team.api)];
  await team.api.post(`/v1/webhooks/${rotating.id}/rotate-secret`);
  const contact = `+3498765${String(made).padStart(5, '0')}`;
  await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(contact)}`);
  const invitation = { email: `invited${made}@example.com`, role: 'member' };
  return {
    numberId: String((await findNumber(team.api, phoneNumber))?.id),
    messageId: await team.api.send({ from: sender, to, content: 'Hello' }),
    phoneNumber: `+3312345${String(made).padStart(5, '0')}`,
    memberId: (await newMember(service, team, 'viewer')).memberId,
    invitationId: String((await team.api.post('/v1/team/members/invite', invitation)).json.invitation_id),
    keyId: publicId('key', (await service.makeKey(team.id, ['team:read'])).id),
    email: `nobody${made}@example.com`,
    contact,
    webhookId: webhook.id,
    rotatingWebhookId: rotating.id,
    deliveryId: await newDelivery(service, team, webhook.id),
  };
}

/** All data of a team that a request could change, for a comparison of before and after. */
export async function stateOf(api: ApiClient): Promise<readonly string[]> {
  const list = await api.get('/v1/numbers');
  const numbers = Array.isArray(list.json.numbers) ? list.json.numbers : [];
  const hooks = await api.get('/v1/webhooks');
  const webhooks = Array.isArray(hooks.json.webhooks) ? hooks.json.webhooks : [];
  const paths = [
    '/v1/team',
    '/v1/team/members',
    '/v1/team/invitations?limit=100',
    '/v1/messages',
    '/v1/opt-outs',
    ...numbers.map(({ id }) => `/v1/numbers/${id}`),
    '/v1/webhooks',
    // Two webhooks suffice, because refused requests concern only the first ones.
    ...webhooks.slice(0, 2).map(({ id }) => `/v1/webhooks/${id}/deliveries`),
  ];
  const answers = await Promise.all(paths.map((path) => api.get(path)));
  return answers.map((answer) => withoutPhoneTimes(answer.text));
}

/**
 * Leaves out fields of an answer that time alone changes: a phone's last poll, and the health that follows from it. The
 * last poll may be written after the poll was answered.
 */
function withoutPhoneTimes(answer: string): string {
  return answer.replace(/"last_seen_at":"[^"]+"/g, '').replace(/"health":\{[^{}]*\}/g, '');
}
