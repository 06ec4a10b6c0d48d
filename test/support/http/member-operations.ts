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

/** Operations of a team that only people may use. A route that is missing here fails the test. */
const personal: Readonly<Record<string, MemberOperation>> = {
  [`PUT ${below}/team/owners/:id`]: { permission: 'owners:manage', status: 200 },
  [`DELETE ${below}/team/owners/:id`]: {
    permission: 'owners:manage',
    status: 200,
    prepare: async ({ memberId }, owner) => {
      const answer = await owner.put(owner.in(`/team/owners/${memberId}`), {});
      assert.equal(answer.status, 200, answer.text);
    },
  },
  [`POST ${below}/team/invitations/:id/link`]: { permission: 'team:write', status: 200 },
  [`POST ${below}/team/leave`]: { permission: undefined, status: 200 },
  [`GET ${below}/keys`]: { permission: 'keys:manage', status: 200 },
  [`POST ${below}/keys`]: {
    permission: 'keys:manage',
    status: 201,
    body: () => ({ name: 'Example', permissions: ['messages:read'] }),
  },
  [`DELETE ${below}/keys/:id`]: {
    permission: 'keys:manage',
    status: 200,
    // Another member made this key, so members may not revoke it. test/api-keys/member-keys.test.ts tests revoking
    // one's own key.
    statusAs: { member: 403 },
  },
  [`GET ${below}/conversations`]: { permission: 'messages:read', status: 200 },
  [`GET ${below}/conversations/unread`]: { permission: 'messages:read', status: 200 },
  [`GET ${below}/conversations/:phone_number/:contact/messages`]: {
    permission: 'messages:read',
    status: 200,
  },
  [`PUT ${below}/conversations/:phone_number/:contact/read`]: {
    permission: 'messages:read',
    status: 200,
    body: ({ messageId }) => ({ message_id: messageId }),
  },
  [`POST ${below}/erasures`]: {
    permission: 'contacts:erase',
    status: 200,
    body: () => ({ contact: '+14155550166' }),
  },
  [`GET ${below}/messages/:id/timeline`]: { permission: 'messages:read', status: 200 },
  [`POST ${below}/numbers/simulated`]: {
    permission: 'numbers:write',
    status: 201,
    body: () => ({}),
    // A team has at most one simulated number.
    prepare: removeSimulatedNumber,
  },
  [`GET ${below}/webhooks/health`]: { permission: 'webhooks:read', status: 200 },
  [`GET ${below}/webhooks/:id/health`]: { permission: 'webhooks:read', status: 200 },
  [`GET ${below}/webhooks/:id/deliveries/:delivery_id/request`]: { permission: 'webhooks:read', status: 200 },
  [`GET ${below}/usage`]: { permission: 'team:read', status: 200 },
  [`GET ${below}/usage/limits`]: { permission: 'team:read', status: 200 },
  [`GET ${below}/shortcuts`]: { permission: 'numbers:read', status: 200 },
  [`GET ${below}/home`]: { permission: 'messages:read', status: 200 },
  [`GET ${below}/restore`]: { permission: 'team:read', status: 200 },
  [`POST ${below}/restore/resume`]: { permission: 'restore:resume', status: 200, body: () => ({}) },
  [`GET ${below}/live`]: { permission: undefined, status: 200, isStream: true },
  [`GET ${below}/audit`]: { permission: 'audit:read', status: 200 },
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
