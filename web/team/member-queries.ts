import type { Static } from 'typebox';
import type { MemberList } from '#contract/member.ts';
import { teamQuery } from '#web/api/team-requests.ts';

export const membersQuery = (teamId: string) =>
  teamQuery<Static<typeof MemberList>>(teamId, 'member', '/team/members');
