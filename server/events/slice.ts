import { feedChannel, idsOf, unpublishedEventsChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { filterTeamsWithNewEvents } from './feed-store.ts';
import { FeedPollRegistry } from './list-events.ts';
import { createPublisher, registerFeedMetrics } from './publisher.ts';
import { eventRoutes } from './routes.ts';

/** Events: the publisher, which every installation needs, and the feed. */
export function openEvents(services: Runtime): Slice {
  const feedPolls = new FeedPollRegistry();
  registerFeedMetrics(services);
  return {
    routes: eventRoutes({ ...services, feedPolls }),
    jobs: [
      { role: 'maintain', wokenBy: unpublishedEventsChannel, worker: () => createPublisher(services) },
      sweep('api', 'wake held readers of events', 1_000, 'keeps', async () => {
        const { positions } = feedPolls;
        if (positions.length > 0)
          feedPolls.wake(await filterTeamsWithNewEvents(services.database.pool, positions));
      }),
    ],
    channels: { [feedChannel]: (payload) => feedPolls.wake(idsOf<TeamId>(payload)) },
    holds: [feedPolls],
  };
}
