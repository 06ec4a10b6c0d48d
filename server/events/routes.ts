import { EventList, ListEventsQuery } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/http/route.ts';
import { disconnectSignal } from '#server/http/stream-answer.ts';
import { type FeedPollRegistry, listEvents } from './list-events.ts';
import { listEventsExamples } from './route-examples.ts';

export function eventRoutes(services: Runtime & { readonly feedPolls: FeedPollRegistry }): Route[] {
  return [
    route('GET /v1/events', {
      audience: 'api',
      permission: 'messages:read',
      admission: { permit: 'held' },
      text: {
        operationId: 'listEvents',
        tag: 'Events',
        summary: 'List events',
        description:
          'Lists the events of the team, oldest first, each once. An event is the same JSON that a webhook receives; `type` decides the fields of `data`. To read on, send the `cursor` of the answer as `after`: no event is missed or repeated. If `gap` is true, an event after `after` may have been deleted before you read it. It stays true, also on empty pages, until you have read a newer event. Compare your data with the lists of messages once, when `gap` turns true.\n\nTo begin with the events from now on, read pages until `has_more` is false, and keep the last `cursor`.\n\nWith `wait`, a request for which there is no event yet waits for the next one. A team can have 20 such requests at a time.',
        examples: listEventsExamples,
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
