import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { type EventId, timeOfId } from '#server/platform/ids/ids.ts';
import { addGauge, ageSeconds, cachedQuery } from '#server/platform/process/metrics.ts';

/** Upper bound on the counted backlog, which bounds the cost of a scrape. */
const countedMax = 10_000;

const selectBacklog = statement<[number], { readonly events: number; readonly oldest: EventId | null }>(
  'events.backlog',
  `SELECT (SELECT count(*) FROM (SELECT FROM unpublished_events LIMIT $1) AS counted) AS events,
     (SELECT event_id FROM unpublished_events ORDER BY seq LIMIT 1) AS oldest`,
);

/** Registers gauges of events without a position in the feed (specification section 10.4). */
export function registerFeedMetrics({
  database,
  clock,
  metrics,
}: Pick<Runtime, 'database' | 'clock' | 'metrics'>): void {
  const backlog = cachedQuery(clock, () => selectBacklog.row(database.pool, countedMax));
  addGauge(
    metrics,
    'ownline_unpublished_events',
    `Events that have no position in the feed yet, counted up to ${countedMax}.`,
    async () => (await backlog())?.events ?? 0,
  );
  addGauge(
    metrics,
    'ownline_unpublished_events_oldest_seconds',
    'How long the oldest event without a position in the feed has waited.',
    async () => {
      const oldest = (await backlog())?.oldest;
      return oldest ? ageSeconds(clock, timeOfId(oldest)) : 0;
    },
  );
}
