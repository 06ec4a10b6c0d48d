import { Timeline } from '#contract/timeline.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { getTimeline } from './get-timeline.ts';

export function timelineRoutes(services: Pick<Runtime, 'database' | 'clock' | 'config'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/messages/:id/timeline',
      ids: { id: 'msg' },
      audience: 'team',
      permission: 'messages:read',
      answers: { 200: Timeline },
      handle: async ({ principal, ids }) => ({
        body: await getTimeline(services, principal.teamId, ids.id),
      }),
    }),
  ];
}
