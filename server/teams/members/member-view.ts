import type { Member } from '#contract/member.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { MemberProfileRow } from './member-store.ts';

/** The Member object of the API (specification section 2.3). */
export function memberView(member: MemberProfileRow): Member {
  return {
    id: publicId('usr', member.id),
    email: member.email,
    name: member.name,
    role: member.role,
    created_at: member.created_at.toISOString(),
  };
}
