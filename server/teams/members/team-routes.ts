import { Team, UpdateTeamRequest } from '#contract/team.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { teamView } from '#server/teams/team/team-view.ts';
import { renameTeam } from './rename-team.ts';
import { getTeamExamples, updateTeamExamples } from './route-examples.ts';

export function teamRoutes(
  services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'config' | 'secrets'>,
): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/team',
      audience: 'api',
      permission: 'team:read',
      text: {
        operationId: 'getTeam',
        tag: 'Team',
        summary: 'Get the team',
        description: 'Returns the team that the API key belongs to.',
        errorStatuses: [],
        examples: getTeamExamples,
      },
      answers: { 200: Team },
      handle: async ({ principal }) => {
        const team = await findTeam(services.database.pool, principal.teamId);
        if (!team) throw notFound('team');
        return { body: teamView(team) };
      },
    }),
    route({
      method: 'PUT',
      path: '/v1/team',
      audience: 'api',
      permission: 'team:write',
      audit: 'team.renamed',
      text: {
        operationId: 'updateTeam',
        tag: 'Team',
        summary: 'Rename the team',
        description:
          'Changes the fields that are sent, and returns the team; `{}` changes nothing. Owners get a mail if a key renames the team.',
        errorStatuses: [],
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
