import { Counter } from 'prom-client';
import type { MessageEventType } from '#contract/event.ts';
import { failureCodes } from '#contract/message.ts';
import { testLine } from '#contract/test-line.ts';
import { query, type Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sqlHealthSources, sqlHealthState } from '#server/numbers/number-health.ts';
import { type MessageId, timeOfId } from '#server/platform/ids.ts';
import { ageSeconds, gauges, labelledGauges } from '#server/platform/process/metrics.ts';
import type { MessageRow } from './message.ts';

/** SQL: the ids of test lines, whose messages are counted by no gauge. */
const sqlTestLines = `(SELECT id FROM numbers WHERE phone_number = '${testLine}' AND verified_at IS NOT NULL AND deleted_at IS NULL)`;

const readQueue = query<object, { depth: number; oldest: Date | null; in_flight: number }>(
  'messages.queue-depth',
  `SELECT count(*) AS depth, min(queued_at) AS oldest, (SELECT count(*) FROM in_flight WHERE number_id NOT IN ${sqlTestLines}) AS in_flight
   FROM send_queue WHERE number_id NOT IN ${sqlTestLines}`,
).one;

/** Reads the waiting media fetches. `oldest` is the id of the oldest message with one, which contains its time. */
const readFetches = query<object, { waiting: number; oldest: MessageId | null }>(
  'messages.media-fetches-waiting',
  `SELECT count(*) AS waiting, (SELECT message_id FROM media_fetches ORDER BY message_id LIMIT 1) AS oldest FROM media_fetches`,
).one;

/** States of numbers in the metrics: their health, or `paused` if a person paused the number. */
const numberStates = ['online', 'late', 'offline', 'pending', 'paused'] as const;

const readNumbers = query<
  { now: Date },
  { state: (typeof numberStates)[number]; numbers: number; with_messages: number; oldest: Date | null }
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
).rows;

/** How long the gauges of numbers are cached: they cost a look-up in the queue per number. */
const numbersCacheMs = 15_000;

/** Registers gauges of the queue, of waiting media fetches and of the numbers of all teams (specification section 10.4). */
export function registerMessageMetrics({ database: { pool }, clock, metrics }: Runtime): void {
  gauges({ metrics, clock }, () => readQueue(pool), {
    ownline_queue_depth: ['Messages that wait for a phone.', ({ depth }) => depth],
    ownline_queue_oldest_seconds: [
      'How long the oldest message that waits for a phone has waited.',
      ({ oldest }) => ageSeconds(clock, oldest),
    ],
    ownline_in_flight: ['Messages that a phone took and has not reported yet.', ({ in_flight }) => in_flight],
  });
  gauges({ metrics, clock }, () => readFetches(pool), {
    ownline_media_fetches_waiting: ['Messages that wait for their media.', ({ waiting }) => waiting],
    ownline_media_fetches_oldest_seconds: [
      'How long the oldest message that waits for its media has waited.',
      ({ oldest }) => ageSeconds(clock, oldest && timeOfId(oldest)),
    ],
  });
  const byState = async () => {
    const rows = await readNumbers(pool, { now: clock.now() });
    return Object.fromEntries(numberStates.map((of) => [of, rows.find(({ state }) => state === of)]));
  };
  const byLabel = { metrics, clock, cacheMs: numbersCacheMs, label: 'state', fixed: numberStates };
  labelledGauges(byLabel, byState, {
    ownline_numbers: ['Numbers by state.', (row) => row?.numbers ?? 0],
    ownline_numbers_with_queue: [
      'Numbers by state for which messages wait.',
      (row) => row?.with_messages ?? 0,
    ],
    ownline_numbers_queue_oldest_seconds: [
      'How long the oldest waiting message of a number in this state has waited.',
      (row) => ageSeconds(clock, row?.oldest),
    ],
  });
}

const name = 'ownline_message_outcomes_total';

/**
 * Registers the counter with all its series at 0, so that the first outcome of a series already shows as an increase.
 */
export function registerOutcomeMetrics({ metrics }: Runtime): void {
  const counter = new Counter({
    name,
    help: 'Messages by outcome, as this process recorded it: received, sent, delivered, or failed with its error_code.',
    labelNames: ['outcome', 'error_code'] as const,
    registers: [metrics],
  });
  for (const outcome of ['received', 'sent', 'delivered'] as const)
    counter.inc({ outcome, error_code: '' }, 0);
  for (const code of failureCodes) counter.inc({ outcome: 'failed', error_code: code }, 0);
}

/**
 * Counts the outcomes of messages once the transaction has committed; those of test keys are not counted. A late report
 * changes `failed` to `sent`: such a message counts under both.
 */
export function countOutcomes(
  trx: Transaction,
  { metrics }: Runtime,
  type: MessageEventType,
  messages: readonly Pick<MessageRow, 'error_code' | 'from_handle' | 'to_handle'>[],
): void {
  trx.afterCommit(() => {
    // Only the service registers the counter: a command, such as `ownline erase`, has no metrics.
    const counter = metrics.getSingleMetric(name);
    if (!(counter instanceof Counter)) return;
    const outcome = type.slice('message.'.length);
    for (const { error_code: code, from_handle: from, to_handle: to } of messages) {
      if (from === testLine || to === testLine) continue;
      counter.inc({ outcome, error_code: outcome === 'failed' ? (code ?? '') : '' });
    }
  });
}
