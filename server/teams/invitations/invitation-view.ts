import type { Invitation } from '#contract/member.ts';
import { assignableRoles } from '#contract/permissions.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { InvitationRow } from './invitation-store.ts';

/** The Invitation object of the API (specification section 2.4). The API never shows owner links. */
export function invitationView(invitation: InvitationRow): Invitation {
  const role = assignableRoles.find((given) => given === invitation.role);
  if (role === undefined || invitation.email === null) throw new Error('the API must not show an owner link');
  return {
    invitation_id: publicId('inv', invitation.id),
    email: invitation.email,
    role,
    expires_at: invitation.expires_at.toISOString(),
  };
}
