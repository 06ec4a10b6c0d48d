import { Deleted } from '#contract/deleted.ts';
import {
  Invitation,
  InvitationList,
  InviteRequest,
  ListedInvitationList,
  ListInvitationsQuery,
  MadeInvitation,
} from '#contract/member.ts';
import { type Route, route } from '#server/http/route.ts';
import {
  inviteMember,
  listInvitations,
  listInvitationsForMember,
  makeInvitationLink,
  resendInvitation,
  revokeInvitation,
} from './invitations.ts';
import type { InvitationServices } from './mail-invitation.ts';
import {
  inviteMemberExamples,
  listInvitationsExamples,
  resendInvitationExamples,
  revokeInvitationExamples,
} from './route-examples.ts';

export function invitationRoutes(services: InvitationServices): Route[] {
  return [
    route('POST /v1/team/members/invite', {
      audience: 'api',
      permission: 'team:write',
      audit: 'invitation.made',
      text: {
        operationId: 'inviteMember',
        tag: 'Members',
        summary: 'Invite a member',
        description:
          'Creates a link for one address, good for 7 days, and mails it there. No answer to a key has the link. If the server sends no mail, or the mail fails, the invitation stands in the dashboard as not mailed: an owner or admin copies a link of it there and passes it on. Its id and expiry stay.\n\nMembers and open invitations count against the plan together. An address gets at most 5 mails an hour, and a team sends 100; beyond that 429. Owners get a mail about each invitation by a key.',
        examples: inviteMemberExamples,
      },
      body: InviteRequest,
      answers: { 201: Invitation },
      ofMembers: { answers: { 201: MadeInvitation } },
      handle: async ({ principal, body, by }) => ({
        status: 201,
        body: await inviteMember(services, principal.teamId, body, by),
      }),
    }),
    route('GET /v1/team/invitations', {
      audience: 'api',
      permission: 'team:read',
      text: {
        operationId: 'listInvitations',
        tag: 'Members',
        summary: 'List invitations',
        description:
          'Lists the invitations that can still be accepted, newest first. Pages work as those of messages.',
        examples: listInvitationsExamples,
      },
      query: ListInvitationsQuery,
      answers: { 200: InvitationList },
      handle: async ({ principal, query }) => ({
        body: await listInvitations(services, principal.teamId, query),
      }),
      ofMembers: {
        answers: { 200: ListedInvitationList },
        handle: async ({ principal, query }) => ({
          body: await listInvitationsForMember(services, principal.teamId, query),
        }),
      },
    }),
    route('DELETE /v1/team/invitations/:id', {
      ids: { id: 'inv' },
      audience: 'api',
      permission: 'team:write',
      audit: 'invitation.revoked',
      text: {
        operationId: 'revokeInvitation',
        tag: 'Members',
        summary: 'Revoke an invitation',
        description: 'Ends an invitation: its link no longer works, and its seat is free again.',
        examples: revokeInvitationExamples,
      },
      answers: { 200: Deleted },
      handle: async ({ principal, ids, by }) => {
        await revokeInvitation(services, principal.teamId, ids.id, by);
        return { body: { deleted: true } };
      },
    }),
    route('POST /v1/team/invitations/:id/resend', {
      ids: { id: 'inv' },
      audience: 'api',
      permission: 'team:write',
      audit: 'invitation.sent_again',
      text: {
        operationId: 'resendInvitation',
        tag: 'Members',
        summary: 'Send an invitation again',
        description:
          'Replaces an invitation by a new one for the same address and role, with a new id, a new link and 7 days, and mails the link. The old invitation ends, and so does its link.\n\nIt takes no further seat. Owners get a mail about each invitation that a key sends again.',
        examples: resendInvitationExamples,
      },
      answers: { 201: Invitation },
      ofMembers: { answers: { 201: MadeInvitation } },
      handle: async ({ principal, ids, by }) => ({
        status: 201,
        body: await resendInvitation(services, principal.teamId, ids.id, by),
      }),
    }),
    route('POST /app/teams/:team_id/team/invitations/:id/link', {
      ids: { id: 'inv' },
      audience: 'team',
      permission: 'team:write',
      audit: 'invitation.link_made',
      answers: { 200: MadeInvitation },
      handle: async ({ principal, ids, by }) => ({
        body: await makeInvitationLink(services, principal.teamId, ids.id, by),
      }),
    }),
  ];
}
