import { SearchQuery, SearchResult } from '#contract/search.ts';
import { findReader } from '#server/dashboard/conversations/conversation-facts.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId } from '#server/platform/ids.ts';
import { searchTeam } from './search-team.ts';

export function teamSearchRoutes(services: Runtime): Route[] {
  return [
    route('GET /app/teams/:team_id/search', {
      audience: 'team',
      permission: 'messages:read',
      query: SearchQuery,
      answers: { 200: SearchResult },
      handle: async ({ principal: { teamId, actor }, query }) => {
        const memberId = parseId('usr', actor.id);
        const reader = memberId && (await findReader(services.database.pool, teamId, memberId));
        if (!reader) throw notFound('team');
        return { body: await searchTeam(services, teamId, reader, query) };
      },
    }),
  ];
}
