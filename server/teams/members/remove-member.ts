import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import type { MemberId, TeamId } from '#server/platform/ids/ids.ts';
import { endMembership, type OnMemberRemoved } from './end-membership.ts';
import { mailKeyChange } from './mail-key-change.ts';
import { findMember } from './member-store.ts';
import { runTeamChange } from './run-team-change.ts';

interface Removal {
  readonly revokeKeys: boolean;
  readonly by: AuditActor;
}

/**
 * Removes a member from a team (specification section 4.1). The removal takes effect with the member's next request.
 * Owners get a mail if an API key removes the member.
 * @throws AppError 404 for an unknown member; 400, param id, for an owner; 429 for too many changes by API keys
 */
export async function removeMember(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & {
    readonly onMemberRemoved: readonly OnMemberRemoved[];
  },
  teamId: TeamId,
  memberId: MemberId,
  { revokeKeys, by }: Removal,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: 'team:write' }, async (trx, team) => {
    const member = await findMember(trx, teamId, memberId);
    if (!member) throw notFound('member');
    if (member.role === 'owner') {
      throw invalid(
        'id',
        'This member is an owner, and owners can’t be removed. First ask an owner to change their role in the dashboard.',
      );
    }
    await mailKeyChange(trx, services, team, by, `removed ${member.name} (${member.email})`);
    await endMembership(trx, services, { member, action: 'member.removed', revokeKeys, by });
  });
}
