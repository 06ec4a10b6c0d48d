import { EventList, ListEventsQuery } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { disconnectSignal } from '#server/platform/http/client-disconnect.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import type { FeedPollRegistry } from './feed-poll-registry.ts';
import { listEvents } from './list-events.ts';

export function eventRoutes(services: Runtime & { readonly feedPolls: FeedPollRegistry }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/events',
      audience: 'api',
      permission: 'messages:read',
      held: true,
      text: {
        operationId: 'listEvents',
        tag: 'Events',
        summary: 'Follow the events',
        description:
          'The team’s events, oldest first, each once, as webhooks are sent them. Send `cursor` as `after` to get what follows: nothing is missed and nothing comes twice, whether or not a webhook was there. With `wait` an empty page is held until there is an event, for at most so many seconds; a team can have 20 such requests wait at a time.',
        errorStatuses: [],
      },
      query: ListEventsQuery,
      answers: { 200: EventList },
      handle: async ({ principal, query, reply, reauthenticate, withPermit }) => ({
        body: await listEvents(services, principal.teamId, query, {
          disconnect: disconnectSignal(reply),
          reauthenticate,
          withPermit,
        }),
      }),
    }),
  ];
}
