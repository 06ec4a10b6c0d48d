import { Deleted } from '#contract/deleted.ts';
import { ChangeRoleRequest, Left, Member, MemberList, RemoveMemberQuery } from '#contract/member.ts';
import { Team, UpdateTeamRequest } from '#contract/team.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids.ts';
import { findTeam, teamView } from '#server/teams/team/team.ts';
import { changeRole, demoteOwner, promoteOwner } from './change-role.ts';
import { renameTeam } from './change-team.ts';
import { listMembers, type MemberProfileRow } from './members.ts';
import { leaveTeam, removeMember } from './remove-member.ts';
import {
  changeRoleExamples,
  getTeamExamples,
  listMembersExamples,
  removeMemberExamples,
  updateTeamExamples,
} from './route-examples.ts';

export function teamRoutes(services: Runtime): Route[] {
  return [
    route('GET /v1/team', {
      audience: 'api',
      permission: 'team:read',
      text: {
        operationId: 'getTeam',
        tag: 'Team',
        summary: 'Get the team',
        description: 'Returns the team that the API key belongs to.',
        examples: getTeamExamples,
      },
      answers: { 200: Team },
      handle: async ({ principal }) => {
        const team = await findTeam(services.database.pool, principal);
        if (!team) throw notFound('team');
        return { body: teamView(team) };
      },
    }),
    route('PUT /v1/team', {
      audience: 'api',
      permission: 'team:write',
      audit: 'team.renamed',
      text: {
        operationId: 'updateTeam',
        tag: 'Team',
        summary: 'Rename the team',
        description:
          'Changes the fields that are sent, and returns the team; `{}` changes nothing. Owners get a mail if a key renames the team.',
        examples: updateTeamExamples,
      },
      body: UpdateTeamRequest,
      answers: { 200: Team },
      handle: async ({ principal, body, by }) => ({
        body: teamView(await renameTeam(services, principal.teamId, body.name, by)),
      }),
    }),
  ];
}

export function memberRoutes(services: Runtime): Route[] {
  return [...publicRoutes(services), ...personalRoutes(services)];
}

function publicRoutes(services: Runtime): Route[] {
  return [
    route('GET /v1/team/members', {
      audience: 'api',
      permission: 'team:read',
      text: {
        operationId: 'listMembers',
        tag: 'Members',
        summary: 'List members',
        description: 'Lists the people of the team, the longest membership first.',
        examples: listMembersExamples,
      },
      answers: { 200: MemberList },
      handle: async ({ principal }) => {
        const members = await listMembers(services.database.pool, principal);
        return { body: { members: members.map(memberView) } };
      },
    }),
    route('PUT /v1/team/members/:id/role', {
      ids: { id: 'usr' },
      audience: 'api',
      permission: 'team:write',
      audit: 'member.role_changed',
      text: {
        operationId: 'changeRole',
        tag: 'Members',
        summary: 'Change a role',
        description:
          'Changes what a person may do, from their next request on. Keys of the person with more permissions than the new role are revoked.\n\nThe role of an owner can’t be changed or granted here: owners do that in the dashboard. Owners get a mail about each role that a key changes.',
        examples: changeRoleExamples,
      },
      body: ChangeRoleRequest,
      answers: { 200: Member },
      handle: async ({ principal, ids, body, by }) => ({
        body: memberView(await changeRole(services, principal.teamId, ids.id, body.role, by)),
      }),
    }),
    route('DELETE /v1/team/members/:id', {
      ids: { id: 'usr' },
      audience: 'api',
      permission: 'team:write',
      audit: 'member.removed',
      text: {
        operationId: 'removeMember',
        tag: 'Members',
        summary: 'Remove a member',
        description:
          'The person loses access to the team at once. Their account stays, and so does everything that they did. An owner can’t be removed: another owner changes their role in the dashboard first.\n\nOwners get a mail about each person whom a key removes.',
        examples: removeMemberExamples,
      },
      query: RemoveMemberQuery,
      answers: { 200: Deleted },
      handle: async ({ principal, ids, query, by }) => {
        const revokeKeys = query.revoke_keys ?? false;
        await removeMember(services, principal.teamId, ids.id, { revokeKeys, by });
        return { body: { deleted: true } };
      },
    }),
  ];
}

/** Routes of the dashboard that no API key may use: making owners, and leaving a team. */
function personalRoutes(services: Runtime): Route[] {
  return [
    ownerRoute(services, 'PUT', promoteOwner),
    ownerRoute(services, 'DELETE', demoteOwner),
    route('POST /app/teams/:team_id/team/leave', {
      audience: 'team',
      audit: 'member.left',
      query: RemoveMemberQuery,
      answers: { 200: Left },
      handle: async ({ principal, query, by }) => {
        await leaveTeam(services, principal.teamId, { revokeKeys: query.revoke_keys ?? false, by });
        return { body: { left: true } };
      },
    }),
  ];
}

function ownerRoute(services: Runtime, method: 'PUT' | 'DELETE', change: typeof promoteOwner): Route {
  return route(`${method} /app/teams/:team_id/team/owners/:id`, {
    ids: { id: 'usr' },
    audience: 'team',
    permission: 'owners:manage',
    audit: 'member.role_changed',
    answers: { 200: Member },
    handle: async ({ principal, ids, by }) => ({
      body: memberView(await change(services, principal.teamId, ids.id, by)),
    }),
  });
}

function memberView(member: MemberProfileRow): Member {
  return {
    id: publicId('usr', member.id),
    email: member.email,
    name: member.name,
    role: member.role,
    created_at: member.created_at.toISOString(),
  };
}
