import { Gauge } from 'prom-client';
import { testLine } from '#contract/test-line.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sqlHealthSources, sqlHealthState } from '#server/numbers/number-health-sql.ts';
import { addGauge, ageSeconds, cachedQuery } from '#server/platform/process/metrics.ts';

interface QueueRow {
  readonly depth: number;
  readonly oldest: Date | null;
  readonly in_flight: number;
}

/** SQL: the ids of test lines, whose messages are counted by no gauge. */
const sqlTestLines = `(SELECT id FROM numbers WHERE phone_number = '${testLine}' AND verified_at IS NOT NULL AND deleted_at IS NULL)`;

const selectQueue = query<object, QueueRow>(
  'messages.queue-depth',
  `SELECT count(*) AS depth, min(queued_at) AS oldest, (SELECT count(*) FROM in_flight WHERE number_id NOT IN ${sqlTestLines}) AS in_flight
   FROM send_queue WHERE number_id NOT IN ${sqlTestLines}`,
);

/** States of numbers in the metrics: their health, or `paused` if a person paused the number. */
const numberStates = ['online', 'late', 'offline', 'pending', 'paused'] as const;

const selectNumbers = query<
  { now: Date },
  {
    readonly state: (typeof numberStates)[number];
    readonly numbers: number;
    readonly with_messages: number;
    readonly oldest: Date | null;
  }
>(
  'messages.numbers-by-state',
  `SELECT state, count(*) AS numbers, count(oldest) AS with_messages, min(oldest) AS oldest
   FROM (
     SELECT CASE WHEN n.verified_at IS NOT NULL AND n.status = 'paused' THEN 'paused' ELSE ${sqlHealthState(':now')} END AS state,
       q.queued_at AS oldest
     FROM numbers n ${sqlHealthSources()}
     LEFT JOIN LATERAL (SELECT queued_at FROM send_queue WHERE number_id = n.id AND is_ready ORDER BY seq LIMIT 1) q ON true
     WHERE n.deleted_at IS NULL AND n.phone_number <> '${testLine}'
   ) of_number GROUP BY state`,
);

/** How long the gauges of numbers are cached: they cost a look-up in the queue per number. */
const numbersCacheMs = 15_000;

/** Registers gauges of the numbers of all teams by state (specification section 10.4). */
export function registerNumberMetrics({
  database,
  clock,
  metrics,
}: Pick<Runtime, 'database' | 'clock' | 'metrics'>): void {
  const rows = cachedQuery(
    clock,
    () => selectNumbers.rows(database.pool, { now: clock.now() }),
    numbersCacheMs,
  );
  type Row = Awaited<ReturnType<typeof rows>>[number];
  const gauge = (name: string, help: string, read: (row: Row | undefined) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['state'] as const,
      registers: [metrics],
      async collect() {
        const known = await rows().catch(() => undefined);
        for (const state of numberStates)
          this.set({ state }, known ? read(known.find((row) => row.state === state)) : Number.NaN);
      },
    });
  gauge('ownline_numbers', 'Numbers by state.', (row) => row?.numbers ?? 0);
  gauge(
    'ownline_numbers_with_queue',
    'Numbers by state for which messages wait.',
    (row) => row?.with_messages ?? 0,
  );
  gauge(
    'ownline_numbers_queue_oldest_seconds',
    'How long the oldest waiting message of a number in this state has waited.',
    (row) => ageSeconds(clock, row?.oldest),
  );
}

/**
 * Registers gauges of the queue of all teams and of this process's held polls, read for each /metrics (specification
 * section 10.4).
 */
export function registerQueueMetrics(
  { database, clock, metrics }: Pick<Runtime, 'database' | 'clock' | 'metrics'>,
  polls: { readonly numbers: readonly unknown[] },
): void {
  const row = cachedQuery(clock, () => selectQueue.row(database.pool));
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    addGauge(metrics, name, help, read);
  gauge('ownline_queue_depth', 'Messages that wait for a phone.', async () => (await row())?.depth ?? 0);
  gauge(
    'ownline_queue_oldest_seconds',
    'How long the oldest message that waits for a phone has waited.',
    async () => ageSeconds(clock, (await row())?.oldest),
  );
  gauge(
    'ownline_in_flight',
    'Messages that a phone took and has not reported yet.',
    async () => (await row())?.in_flight ?? 0,
  );
  gauge('ownline_polls_held', 'Polls that this process holds.', async () => polls.numbers.length);
}
