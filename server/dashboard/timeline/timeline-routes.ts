import { Timeline } from '#contract/timeline.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { parseId } from '#server/platform/ids/ids.ts';
import { getTimeline } from './get-timeline.ts';

export function timelineRoutes(services: Pick<Runtime, 'database' | 'clock' | 'config'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/messages/:id/timeline',
      audience: 'team',
      permission: 'messages:read',
      answers: { 200: Timeline },
      handle: async ({ principal, params }) => {
        const id = parseId('msg', params.id ?? '');
        if (!id) throw notFound('message');
        return { body: await getTimeline(services, principal.teamId, id) };
      },
    }),
  ];
}
