import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type EventId, timeOfId } from '#server/platform/ids/ids.ts';
import { ageSeconds, gauges } from '#server/platform/process/metrics.ts';

/** Upper bound on the counted backlog, which bounds the cost of a scrape. */
const countedMax = 10_000;

const readBacklog = query<{ max: number }, { events: number; oldest: EventId | null }>(
  'events.backlog',
  `SELECT (SELECT count(*) FROM (SELECT FROM unpublished_events LIMIT :max) AS counted) AS events,
     (SELECT event_id FROM unpublished_events ORDER BY seq LIMIT 1) AS oldest`,
).one;

/** Registers gauges of events without a position in the feed (specification section 10.4). */
export function registerFeedMetrics({ database, clock, metrics }: Runtime): void {
  gauges({ metrics, clock }, () => readBacklog(database.pool, { max: countedMax }), {
    ownline_unpublished_events: [
      `Events that have no position in the feed yet, counted up to ${countedMax}.`,
      ({ events }) => events,
    ],
    ownline_unpublished_events_oldest_seconds: [
      'How long the oldest event without a position in the feed has waited.',
      ({ oldest }) => ageSeconds(clock, oldest && timeOfId(oldest)),
    ],
  });
}
