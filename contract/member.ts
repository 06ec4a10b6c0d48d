import { Type } from 'typebox';
import { pageFields, pageQuery } from './paging.ts';
import { assignableRoles, roles } from './permissions.ts';
import { publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

/** The longest e-mail address that mail servers accept (RFC 5321, section 4.5.3.1). */
export const emailMaxCharacters = 254;

const email = Type.String({
  description: 'The address that the account belongs to.',
  examples: ['ada@example.com'],
});

/** A member of a team. */
export const Member = strictObject({
  id: publicIdOf('usr', 'The id of the membership; a person has a different one in each team.'),
  email,
  name: Type.String({ description: 'The name that the person chose.', examples: ['Ada Example'] }),
  role: stringEnum(roles, { description: 'The role of the person, which decides their permissions.' }),
  created_at: timestamp('When the person joined.'),
});
export type Member = Type.Static<typeof Member>;

export const MemberList = strictObject({ members: Type.Array(Member, { description: 'Oldest first.' }) });

const givenRole = stringEnum(assignableRoles, {
  description: 'The role in the team. Only an owner can make an owner, in the dashboard.',
});

/** An invitation to a team (specification section 3.5). */
export const Invitation = strictObject({
  invitation_id: publicIdOf('inv', 'The id of the invitation.'),
  email,
  role: givenRole,
  expires_at: timestamp('When the invitation expires: 7 days after it was created.'),
});
export type Invitation = Type.Static<typeof Invitation>;

/**
 * The answer to a member. If no mail is sent, it has the link, which the member passes on. A key gets an `Invitation`.
 */
export const MadeInvitation = strictObject({
  ...Invitation.properties,
  accept_url: Type.Optional(
    Type.String({
      description: 'Only if the invitation was not mailed: the link to pass on. It is shown once.',
      examples: ['https://texts.example.com/invite/K7jvXwqK3nV2m8sT0dYb4AK7jvXwqK3nV2m8sT0dYb4'],
    }),
  ),
});
export type MadeInvitation = Type.Static<typeof MadeInvitation>;

/** GET /v1/team/invitations (specification section 4.1). It pages as GET /v1/messages does. */
export const ListInvitationsQuery = strictObject({
  ...pageQuery('invitations'),
});
export type ListInvitationsQuery = Type.Static<typeof ListInvitationsQuery>;

export const InvitationList = strictObject({
  invitations: Type.Array(Invitation, {
    description:
      'Invitations that can still be accepted, newest first. Links that the operator makes for owners are not listed.',
  }),
  ...pageFields('inv', 'Send this value as `cursor` to get the next page; "" on an empty page.'),
});
export type InvitationList = Type.Static<typeof InvitationList>;

/** An invitation in the list for members. */
const ListedInvitation = strictObject({
  ...Invitation.properties,
  mailed: Type.Boolean({ description: 'Whether the mail with the link was sent or is on its way.' }),
});
export type ListedInvitation = Type.Static<typeof ListedInvitation>;

/** GET /app/teams/:team_id/team/invitations. */
export const ListedInvitationList = strictObject({
  ...InvitationList.properties,
  invitations: Type.Array(ListedInvitation),
});
export type ListedInvitationList = Type.Static<typeof ListedInvitationList>;

export const InviteRequest = strictObject({
  email: Type.String({
    minLength: 3,
    maxLength: emailMaxCharacters,
    description: 'The address of the person to invite. Upper and lower case are the same.',
    examples: ['ada@example.com'],
  }),
  role: givenRole,
});
export type InviteRequest = Type.Static<typeof InviteRequest>;

export const ChangeRoleRequest = strictObject({ role: Type.Optional(givenRole) });
export type ChangeRoleRequest = Type.Static<typeof ChangeRoleRequest>;

/** DELETE /v1/team/members/:id (specification section 4.1). */
export const RemoveMemberQuery = strictObject({
  revoke_keys: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'true revokes the API keys that the person made; otherwise they go on working, because they belong to the team.',
    }),
  ),
});

/** The dashboard's answer when a member has left a team. */
export const Left = strictObject({ left: Type.Literal(true) });

/** A password field accepts more than the password rule does, so that the rule's error can state the maximum. */
export const passwordFieldMaxCharacters = 1_000;
