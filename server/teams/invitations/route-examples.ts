import { exampleServer, exampleIds as ids } from '#contract/example-values.ts';
import {
  conflictExample,
  type Examples,
  invalidExample,
  notFoundExample,
  refusal,
  unknownParameterExample,
} from '#server/platform/http/example.ts';

const own = { params: { id: ids.invitation } };
const unknown = { params: { id: ids.unknown('inv') } };
const body = { email: 'mary@example.com', role: 'viewer' };
const invitation = { invitation_id: ids.invitation, ...body, expires_at: '2026-11-28T08:40:00.000Z' };

export const inviteMemberExamples: Examples = {
  invited: {
    summary: 'An invitation for 7 days',
    body,
    status: 201,
    answer: invitation,
  },
  bad_address: invalidExample(
    'A text that is no mail address',
    'email',
    'email must be an address such as ada@example.com.',
    {
      body: { ...body, email: 'mary at example' },
    },
  ),
  plan_limit: refusal(
    'The plan allows no further member',
    { body },
    [
      402,
      'plan_limit_exceeded',
      `The plan free allows 1 member, open invitations included. Remove a member, revoke an invitation, or see ${exampleServer}/billing for a larger plan.`,
    ],
    {
      limit: 1,
      current: 1,
      upgrade_url: `${exampleServer}/billing`,
    },
  ),
  a_member: conflictExample(
    'The person is a member already',
    'grace@example.com is a member already. PUT /v1/team/members/:id/role changes what they may do.',
    { body: { ...body, email: 'grace@example.com' } },
    { param: 'email' },
  ),
  invited_already: conflictExample(
    'The person is invited already',
    'mary@example.com is invited already, until 2026-11-28T08:40:00.000Z. Revoke that invitation to make another one.',
    { body },
    { param: 'email' },
  ),
};

export const listInvitationsExamples: Examples = {
  one: {
    summary: 'One open invitation',
    status: 200,
    answer: { invitations: [invitation], cursor: ids.invitation, has_more: false },
  },
  limit_too_high: invalidExample(
    'A page that is too large',
    'limit',
    'limit must be a whole number from 1 to 100.',
    {
      query: { limit: 500 },
    },
  ),
};

export const resendInvitationExamples: Examples = {
  sent_again: {
    summary: 'A new invitation replaces the old one',
    ...own,
    status: 201,
    answer: { ...invitation, invitation_id: ids.newInvitation },
  },
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('invitation', unknown),
};

export const revokeInvitationExamples: Examples = {
  revoked: {
    summary: 'The link no longer works',
    params: { id: ids.newInvitation },
    status: 200,
    answer: { deleted: true },
  },
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('invitation', unknown),
};
