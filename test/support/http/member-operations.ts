import assert from 'node:assert/strict';
import type { Permission, PersonalPermission, Role } from '#contract/permissions.ts';
import type { TeamMember } from '#test/support/people/people.ts';
import { operations, type Things } from './operations.ts';

/** Path below which members have the operations of /v1 (decision 0014). */
export const below = '/app/teams/:team_id';

export interface MemberOperation {
  /** undefined for an operation that every member may use. */
  readonly permission: Permission | PersonalPermission | undefined;
  readonly status: number;
  /** Statuses for roles that have the permission but are restricted by another rule. */
  readonly statusAs?: Readonly<Partial<Record<Role, number>>>;
  readonly body?: (things: Things) => unknown;
  /** True for an answer that never ends: allowed requests use HEAD instead. */
  readonly isStream?: true;
  /** Makes further things that the operation needs. */
  readonly prepare?: (things: Things, owner: TeamMember) => Promise<void>;
}

async function removeSimulatedNumber(_things: Things, owner: TeamMember): Promise<void> {
  const { json } = await owner.get(owner.in('/numbers'));
  const numbers = json.numbers as readonly { readonly id: string; readonly simulated?: true }[];
  const earlier = numbers.find(({ simulated }) => simulated);
  if (!earlier) return;
  const answer = await owner.request('DELETE', owner.in(`/numbers/${earlier.id}`));
  assert.equal(answer.status, 200, answer.text);
}

/** An operation that is answered 200. @param permission undefined if every member may use it */
const needs = (
  permission: MemberOperation['permission'],
  more: Partial<MemberOperation> = {},
): MemberOperation => ({ permission, status: 200, ...more });

/** Operations of a team for people only. A route that is missing here fails the test. */
const personal: Readonly<Record<string, MemberOperation>> = {
  [`PUT ${below}/team/owners/:id`]: needs('owners:manage'),
  [`DELETE ${below}/team/owners/:id`]: needs('owners:manage', {
    prepare: async ({ memberId }, owner) => {
      const answer = await owner.put(owner.in(`/team/owners/${memberId}`), {});
      assert.equal(answer.status, 200, answer.text);
    },
  }),
  [`POST ${below}/team/invitations/:id/link`]: needs('team:write'),
  [`POST ${below}/team/leave`]: needs(undefined),
  [`GET ${below}/keys`]: needs('keys:manage'),
  [`POST ${below}/keys`]: {
    permission: 'keys:manage',
    status: 201,
    body: () => ({ name: 'Example', permissions: ['messages:read'] }),
  },
  [`DELETE ${below}/keys/:id`]: needs('keys:manage', {
    // Another member made this key, so members may not revoke it. test/api-keys/member-keys.test.ts tests revoking
    // one's own key.
    statusAs: { member: 403 },
  }),
  [`GET ${below}/conversations`]: needs('messages:read'),
  [`GET ${below}/conversations/waiting`]: needs('messages:read'),
  [`GET ${below}/conversations/:phone_number/:contact/messages`]: needs('messages:read'),
  [`PUT ${below}/conversations/:phone_number/:contact/read`]: needs('messages:read', {
    body: ({ messageId }) => ({ message_id: messageId }),
  }),
  [`PUT ${below}/conversations/:phone_number/:contact/waiting`]: needs('messages:send', {
    body: ({ messageId }) => ({ waiting: false, message_id: messageId }),
  }),
  [`GET ${below}/search`]: needs('messages:read'),
  [`POST ${below}/erasures`]: needs('contacts:erase', {
    body: () => ({ contact: '+14155550166' }),
  }),
  [`GET ${below}/messages/:id/timeline`]: needs('messages:read'),
  [`POST ${below}/numbers/simulated`]: {
    permission: 'numbers:write',
    status: 201,
    body: () => ({}),
    // A team has at most one simulated number.
    prepare: removeSimulatedNumber,
  },
  [`GET ${below}/webhooks/health`]: needs('webhooks:read'),
  [`GET ${below}/webhooks/:id/health`]: needs('webhooks:read'),
  [`GET ${below}/webhooks/:id/deliveries/:delivery_id/request`]: needs('webhooks:read'),
  [`GET ${below}/usage`]: needs('team:read'),
  [`GET ${below}/usage/limits`]: needs('team:read'),
  [`GET ${below}/shortcuts`]: needs('numbers:read'),
  [`GET ${below}/home`]: needs('messages:read'),
  [`GET ${below}/restore`]: needs('team:read'),
  [`POST ${below}/restore/resume`]: needs('restore:resume', { body: () => ({}) }),
  [`GET ${below}/live`]: needs(undefined, { isStream: true }),
  [`GET ${below}/audit`]: needs('audit:read'),
};

/** Operations of members: every operation of /v1 (decision 0014), and those that only people may use. */
export const ofMembers: Readonly<Record<string, MemberOperation>> = {
  ...Object.fromEntries(
    Object.entries(operations).map(([name, { memberPermission, ...operation }]) => [
      name.replace(' /v1', ` ${below}`),
      { ...operation, permission: memberPermission ?? operation.permission },
    ]),
  ),
  ...personal,
};
