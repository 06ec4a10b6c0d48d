import { Usage, UsageQuery } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { getUsage } from './usage.ts';

export function usageRoutes(services: Runtime): Route[] {
  return [
    route('GET /app/teams/:team_id/usage', {
      audience: 'team',
      permission: 'team:read',
      query: UsageQuery,
      answers: { 200: Usage },
      handle: async ({ principal, query }) => ({
        body: await getUsage(services, principal.teamId, query.month),
      }),
    }),
  ];
}
