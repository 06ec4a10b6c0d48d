import { PlanUsage } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { getPlanUsage } from './plan-usage.ts';

/** The limits of a team's plan (specification section 12.7). */
export function planUsageRoutes(services: Pick<Runtime, 'database' | 'clock'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/usage/limits',
      audience: 'team',
      permission: 'team:read',
      answers: { 200: PlanUsage },
      handle: async ({ principal }) => ({ body: await getPlanUsage(services, principal.teamId) }),
    }),
  ];
}
