import type { Member } from '#contract/member.ts';
import type { CurrentTeam } from '#web/shell/session.ts';

export type MemberAction = 'change-role' | 'end';

/**
 * The actions that a person may take on a member (specification section 12.4). Only owners change owners, an owner
 * cannot be removed, and the last owner stays.
 * @param owners the number of owners in the team
 */
export function allowedActions(
  team: CurrentTeam,
  member: Member,
  owners: number,
): { readonly changesRole: boolean; readonly ends: false | 'leave' | 'remove' } {
  const isOwner = member.role === 'owner';
  const isLastOwner = isOwner && owners === 1;
  const isOwn = member.id === team.member_id;
  const mayChange = team.can('team:write') && (!isOwner || team.can('owners:manage'));
  const mayRemove = team.can('team:write') && !isOwner;
  return {
    changesRole: mayChange && !isLastOwner,
    ends: isOwn ? !isLastOwner && 'leave' : mayRemove && 'remove',
  };
}
