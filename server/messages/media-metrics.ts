import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { timeOfId } from '#server/platform/ids/ids.ts';
import { addGauge, ageSeconds, cachedQuery } from '#server/platform/process/metrics.ts';

interface FetchesRow {
  readonly waiting: number;
  /** The id of the oldest message with a waiting fetch; the id contains the time. */
  readonly oldest: string | null;
}

const selectFetches = query<object, FetchesRow>(
  'messages.media-fetches-waiting',
  `SELECT count(*) AS waiting, (SELECT message_id FROM media_fetches ORDER BY message_id LIMIT 1) AS oldest FROM media_fetches`,
);

/** Registers gauges of waiting media fetches, read for each /metrics (specification section 10.4). */
export function registerMediaMetrics({
  database,
  clock,
  metrics,
}: Pick<Runtime, 'database' | 'clock' | 'metrics'>): void {
  const row = cachedQuery(clock, () => selectFetches.row(database.pool));
  addGauge(
    metrics,
    'ownline_media_fetches_waiting',
    'Messages that wait for their media.',
    async () => (await row())?.waiting ?? 0,
  );
  addGauge(
    metrics,
    'ownline_media_fetches_oldest_seconds',
    'How long the oldest message that waits for its media has waited.',
    async () => {
      const oldest = (await row())?.oldest;
      return oldest ? ageSeconds(clock, timeOfId(oldest)) : 0;
    },
  );
}
