import { Home } from '#contract/home.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { getHome } from './get-home.ts';

/** The Home page of a team (specification section 12.10). */
export function homeRoutes(services: Pick<Runtime, 'database' | 'clock' | 'config'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/home',
      audience: 'team',
      permission: 'messages:read',
      answers: { 200: Home },
      handle: async ({ principal }) => ({ body: await getHome(services, principal) }),
    }),
  ];
}
