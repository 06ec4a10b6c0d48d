import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Permission, PersonalPermission } from '#contract/permissions.ts';
import { listAllRoutes } from '#server/cli/route-table.ts';
import { firstSuccess } from '#server/http/example.ts';
import type { Route } from '#server/http/route.ts';
import { publicId } from '#server/platform/ids.ts';
import { png } from '#test/support/media/sample-files.ts';
import { newMember } from '#test/support/people/people.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { type ApiClient, field } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { newDelivery, newWebhook, nowhere } from '#test/support/webhooks/make-webhooks.ts';

/** Phone number from which the operations send. The caller connects its phone. */
export const sender = '+14155550100';
const to = '+14155550101';

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly permission: Permission }>>>>;
const document = readFileSync(join(repository, 'clients/openapi.json'), 'utf8');
const { paths } = JSON.parse(document) as { readonly paths: Paths };

/** Targets of a request. They are made anew for each allowed request, which may use them up. */
export type Things = Awaited<ReturnType<typeof newThings>>;

export interface Operation {
  readonly permission: Permission;
  /** Permission that a member needs, if it differs from that of a key. */
  readonly memberPermission?: PersonalPermission;
  readonly status: number;
  readonly body?: (things: Things) => unknown;
}

/** Fields that need a value of their own in a request. The others have their values from the route. */
const freshFields: Readonly<Record<string, (things: Things) => object>> = {
  'POST /v1/team/members/invite': ({ email }) => ({ email }),
  'POST /v1/numbers/verify': ({ phoneNumber }) => ({ phone_number: phoneNumber }),
  'POST /v1/webhooks': () => ({ url: nowhere }),
  'PUT /v1/webhooks/:id': () => ({ url: nowhere }),
  'POST /v1/contacts': ({ phoneNumber }) => ({ handles: [phoneNumber] }),
  'PUT /v1/contacts/:id': ({ phoneNumber }) => ({ handles: [phoneNumber] }),
  'POST /v1/webhooks/:id/replay': () => ({ since: '2026-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' }),
};

/** The bodies of operations that take a file. */
const files: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  'POST /v1/media': png,
  'POST /v1/contacts/import': Uint8Array.from(Buffer.from('name,email\nAda Example,imported@example.com\n')),
};

/** Every operation of /v1 with the permission that the committed document names, and a request with every field. */
export const operations: Readonly<Record<string, Operation>> = Object.fromEntries(
  listAllRoutes()
    .filter(({ audience }) => audience === 'api')
    .map((route) => {
      const name = `${route.method} ${route.path}`;
      const example = firstSuccess(route.text?.examples ?? {});
      if (!example) throw new Error(`${name} has no example of a success`);
      const fields = Object.entries(propertiesOf(route)).map(([field, schema]) => [
        field,
        example.body?.[field] ?? anyValueOf(schema),
      ]);
      const body = (things: Things) => ({ ...Object.fromEntries(fields), ...freshFields[name]?.(things) });
      const isFile = route.admission?.streamsBody;
      const permission = documentedPermission(route);
      const operation: Operation = {
        permission,
        status: example.status,
        // Members of every role see webhooks (specification section 4.4).
        ...(permission === 'webhooks:manage' &&
          route.method === 'GET' && { memberPermission: 'webhooks:read' }),
        ...(isFile ? { body: () => files[name] } : fields.length > 0 && { body }),
      };
      return [name, operation];
    }),
);

interface Field {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
}

function propertiesOf({ body }: Route): Readonly<Record<string, Field>> {
  return body && 'properties' in body ? (body.properties as Record<string, Field>) : {};
}

/** Any value that the schema of a field allows; null if it may be. */
function anyValueOf({ type, enum: words, examples, anyOf = [], items }: Field): unknown {
  if (anyOf.some((one) => one.type === 'null')) return null;
  if (items) return [anyValueOf(items)];
  return examples?.[0] ?? words?.at(-1) ?? (type === 'boolean' ? false : undefined);
}

/** The permission in clients/openapi.json, which says independently of the served route what an operation needs. */
function documentedPermission({ method, path }: Route): Permission {
  const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  if (!operation)
    throw new Error(`${method} ${path} is not in clients/openapi.json: run \`npm run clients\`.`);
  return operation.permission;
}

const idOf: Readonly<Record<string, (things: Things, pattern: string, method: string) => string>> = {
  numbers: ({ numberId }) => numberId,
  messages: ({ messageId }) => messageId,
  conversations: ({ conversationId }) => conversationId,
  members: ({ memberId }) => memberId,
  owners: ({ memberId }) => memberId,
  invitations: ({ invitationId }) => invitationId,
  keys: ({ keyId }) => keyId,
  'opt-outs': ({ contact, phoneNumber }, _pattern, method) =>
    encodeURIComponent(method === 'DELETE' ? contact : phoneNumber),
  contacts: ({ contactId }) => contactId,
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
  const path = ofConversation.replaceAll(/([\w-]+)\/:(?:id|delivery_id|contact)/g, (_match, noun: string) => {
    const id = idOf[noun]?.(things, pattern, method);
    if (id === undefined) throw new Error(`no id is known for the path ${pattern}`);
    return `${noun}/${id}`;
  });
  return path.endsWith('/search') ? `${path}?q=hello` : path;
}

let made = 0;

/**
 * Makes a pending number, a queued message, a viewer, an open invitation, webhooks and a failed delivery.
 * The sender has to be connected. One number belongs to no team, and one address to no account.
 */
export async function newThings(service: TestService, team: TestTeam) {
  made += 1;
  const phoneNumber = `+4420794${String(made).padStart(5, '0')}`;
  await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
  // A team has at most 100 webhooks. Those of the first call are kept, because refused requests need them.
  const { webhooks } = (await team.api.get('/v1/webhooks')).json;
  const earlier = Array.isArray(webhooks) ? webhooks.slice(2) : [];
  for (const { id } of earlier) await team.api.delete(`/v1/webhooks/${id}`);
  const [webhook, rotating] = [await newWebhook(team.api), await newWebhook(team.api)];
  await team.api.post(`/v1/webhooks/${rotating.id}/rotate-secret`);
  const contact = `+3498765${String(made).padStart(5, '0')}`;
  await team.api.request('PUT', `/v1/opt-outs/${encodeURIComponent(contact)}`);
  const person = { name: 'Ada Example', handles: [contact] };
  const invitation = { email: `invited${made}@example.com`, role: 'member' };
  return {
    numberId: String((await findNumber(team.api, phoneNumber))?.id),
    messageId: await team.api.send({ from: sender, to, content: 'Hello' }),
    conversationId: String(field((await team.api.get('/v1/conversations')).json, 'conversations.0.id')),
    /** A number that no team has. */
    phoneNumber: `+3312345${String(made).padStart(5, '0')}`,
    memberId: (await newMember(service, team, 'viewer')).memberId,
    invitationId: String((await team.api.post('/v1/team/members/invite', invitation)).json.invitation_id),
    /** Key that the operator made. */
    keyId: publicId('key', (await service.makeKey(team.id, ['team:read'])).id),
    /** An address without an account. */
    email: `nobody${made}@example.com`,
    /** A contact who has opted out. */
    contact,
    contactId: String((await team.api.post('/v1/contacts', person)).json.id),
    webhookId: webhook.id,
    /** Webhook during a rotation of its secret. */
    rotatingWebhookId: rotating.id,
    /** A failed delivery of `webhookId`. */
    deliveryId: await newDelivery(service, team, webhook.id),
  };
}

/** Reads all data of a team that a request could change, for a comparison before and after the request. */
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
    '/v1/contacts?limit=100',
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
