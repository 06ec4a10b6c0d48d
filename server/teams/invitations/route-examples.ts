import { exampleIds as ids } from '#contract/example-values.ts';
import { conflictExample, type Examples, planLimitExample, success } from '#server/http/example.ts';

const own = { params: { id: ids.invitation } };
const body = { email: 'mary@example.com', role: 'viewer' };
const invitation = { invitation_id: ids.invitation, ...body, expires_at: '2026-11-28T08:40:00.000Z' };

export const inviteMemberExamples: Examples = {
  invited: success('An invitation for 7 days', invitation, { body }, 201),
  plan_limit: planLimitExample(
    'The plan allows no further member',
    'The plan free allows 1 member, open invitations included. Remove a member, revoke an invitation',
    { body },
    { limit: 1 },
  ),
  a_member: conflictExample(
    'The person is a member already',
    'grace@example.com is a member already. PUT /v1/team/members/:id/role changes what they may do.',
    { body: { ...body, email: 'grace@example.com' } },
    { param: 'email' },
  ),
};

export const listInvitationsExamples: Examples = {
  one: success('One open invitation', { invitations: [invitation], cursor: ids.invitation, has_more: false }),
};

export const resendInvitationExamples: Examples = {
  sent_again: success(
    'A new invitation replaces the old one',
    { ...invitation, invitation_id: ids.newInvitation },
    own,
    201,
  ),
};

export const revokeInvitationExamples: Examples = {
  revoked: success('The link no longer works', { deleted: true }, { params: { id: ids.newInvitation } }),
};
