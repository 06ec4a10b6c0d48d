import { Type } from 'typebox';
import { eventStreamHeaders } from '#server/platform/http/event-stream.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import type { LiveStreams } from './live-streams.ts';

/**
 * The live stream of a team (specification section 12.9). Every member may open it, and gets the types that their role
 * may read.
 */
export function liveRoutes({ liveStreams }: { readonly liveStreams: LiveStreams }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/teams/:team_id/live',
      audience: 'team',
      held: true,
      answers: { 200: Type.String() },
      handle: async (call) => {
        if (call.request.method === 'HEAD') return { body: '', headers: eventStreamHeaders };
        liveStreams.open(call);
        // The live stream writes the HTTP answer itself, so the route returns no body.
        return { body: '' };
      },
    }),
  ];
}
