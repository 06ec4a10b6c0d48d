import type { Static } from 'typebox';
import type { Member, MemberList } from '#contract/member.ts';
import type { GivenRole, Role } from '#contract/permissions.ts';
import { teamQuery, teamRequest } from '#web/api/team-requests.ts';
import { revokeApiKey } from '#web/api-keys/api-key-queries.ts';

export const membersQuery = (teamId: string) =>
  teamQuery<Static<typeof MemberList>>(teamId, 'member', '/team/members');

/**
 * Changes a role. Making and unmaking an owner are separate operations: an owner becomes an admin before any other
 * role.
 */
export async function changeRole(teamId: string, { id, role: before }: Member, role: Role): Promise<void> {
  if (role === 'owner') {
    await teamRequest(teamId, 'PUT', `/team/owners/${id}`);
    return;
  }
  if (before === 'owner') await teamRequest(teamId, 'DELETE', `/team/owners/${id}`);
  if (before === 'owner' && role === 'admin') return;
  await teamRequest(teamId, 'PUT', `/team/members/${id}/role`, { role: role satisfies GivenRole });
}

/** The properties of a dialog about a member. */
export interface MemberDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

export interface MembershipEnd {
  readonly memberId: string;
  readonly isOwn: boolean;
  readonly keyIds: readonly string[];
  readonly revokedKeyIds: readonly string[];
}

/** Selected keys are revoked before the membership ends, so that the call can be repeated after a failure. */
export async function endMembership(
  teamId: string,
  { memberId, isOwn, keyIds, revokedKeyIds }: MembershipEnd,
): Promise<void> {
  const revokesAll = keyIds.length > 0 && revokedKeyIds.length === keyIds.length;
  if (!revokesAll) for (const id of revokedKeyIds) await revokeApiKey(teamId, id);
  const query = revokesAll ? '?revoke_keys=true' : '';
  if (isOwn) await teamRequest(teamId, 'POST', `/team/leave${query}`);
  else await teamRequest(teamId, 'DELETE', `/team/members/${memberId}${query}`);
}
