import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { addGauge, ageSeconds, cachedQuery } from '#server/platform/process/metrics.ts';

interface QueueRow {
  readonly depth: number;
  readonly oldest: Date | null;
  readonly in_flight: number;
}

const selectQueue = statement<QueueRow>(
  'messages.queue-depth',
  `SELECT count(*) AS depth, min(queued_at) AS oldest, (SELECT count(*) FROM in_flight) AS in_flight FROM send_queue`,
);

/**
 * Registers gauges of all teams' queue and of this process's held polls, read for each /metrics (specification 10.4).
 */
export function registerQueueMetrics(
  { database, clock, metrics }: Pick<Runtime, 'database' | 'clock' | 'metrics'>,
  polls: { readonly numbers: readonly unknown[] },
): void {
  const row = cachedQuery(clock, () => selectQueue.row(database.pool));
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    addGauge(metrics, name, help, read);
  gauge('ownline_queue_depth', 'Messages that wait for a phone.', async () => (await row())?.depth ?? 0);
  gauge('ownline_queue_oldest_seconds', 'How long the oldest of them has waited.', async () =>
    ageSeconds(clock, (await row())?.oldest),
  );
  gauge('ownline_in_flight', 'Messages in a phone’s hands.', async () => (await row())?.in_flight ?? 0);
  gauge('ownline_polls_held', 'Polls that this process holds.', async () => polls.numbers.length);
}
