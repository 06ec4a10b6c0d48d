import { Type } from 'typebox';
import { givenRoles, roles } from './permissions.ts';
import { closed, literals, publicIdOf, timestamp } from './schema.ts';

/** The longest address that mail servers take (RFC 5321, section 4.5.3.1). */
export const emailMaxCharacters = 254;

const email = Type.String({
  description: 'The address that the account belongs to.',
  examples: ['ada@example.com'],
});

/** A Member (specification section 2.3). */
export const Member = closed({
  id: publicIdOf('usr', 'The id of the membership: one person has another one in each team.'),
  email,
  name: Type.String({ description: 'As the person calls themselves.', examples: ['Ada Example'] }),
  role: literals(roles, { description: 'What the person may do (section 5.3).' }),
  created_at: timestamp('When the person joined.'),
});
export type Member = Type.Static<typeof Member>;

export const MemberList = closed({ members: Type.Array(Member, { description: 'Oldest first.' }) });

const givenRole = literals(givenRoles, { description: 'Owners are made by an owner, in the dashboard.' });

/** An Invitation (specification section 2.4). */
export const Invitation = closed({
  invitation_id: publicIdOf('inv', 'The id of the invitation.'),
  email,
  role: givenRole,
  expires_at: timestamp('7 days after it was made or sent again.'),
});
export type Invitation = Type.Static<typeof Invitation>;

/** What makes an invitation answers: without SMTP its link as well, to be passed on by hand. */
export const MadeInvitation = closed({
  ...Invitation.properties,
  accept_url: Type.Optional(
    Type.String({
      description: 'Only where this server sends no mail: the link to pass on. It is shown once.',
      examples: ['https://texts.example.com/invite/K7jvXwqK3nV2m8sT0dYb4A'],
    }),
  ),
});
export type MadeInvitation = Type.Static<typeof MadeInvitation>;

export const InvitationList = closed({
  invitations: Type.Array(Invitation, { description: 'Live ones, newest first.' }),
  cursor: Type.String({ description: 'For the next page; "" where there is none.' }),
  has_more: Type.Boolean({ description: 'false on the last page.' }),
});

export const InviteRequest = closed({
  email: Type.String({
    minLength: 3,
    maxLength: emailMaxCharacters,
    description: 'Whom to invite. Compared without regard to upper and lower case.',
    examples: ['ada@example.com'],
  }),
  role: givenRole,
});
export type InviteRequest = Type.Static<typeof InviteRequest>;

export const ChangeRoleRequest = closed({ role: givenRole });
export type ChangeRoleRequest = Type.Static<typeof ChangeRoleRequest>;
