import { Counter, Histogram } from 'prom-client';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { ageSeconds, gauges, labelledGauges } from '#server/platform/process/metrics.ts';
import type { AttemptResult } from './attempt-delivery.ts';

const readQueue = query<{ now: Date }, { depth: number; oldest: Date | null }>(
  'webhooks.due-depth',
  'SELECT count(*) AS depth, min(due_at) AS oldest FROM due_deliveries WHERE due_at <= :now',
).one;

const webhookStates = ['active', 'disabled_by_member', 'disabled_by_failures'] as const;

const countWebhooks = query<object, { state: (typeof webhookStates)[number]; count: number }>(
  'webhooks.count-by-state',
  `SELECT coalesce('disabled_by_' || disabled_by, 'active') AS state, count(*) AS count FROM webhooks GROUP BY 1`,
).rows;

/** How long the counts of webhooks are cached; only people and failures change these counts. */
const webhooksCacheMs = 30_000;

export interface DeliveryMetrics {
  readonly attempted: (result: AttemptResult) => void;
  readonly disabled: (webhooks: number) => void;
}

/** Creates the metrics of deliveries (specification section 10.4). */
export function createDeliveryMetrics(
  { database, clock, metrics }: Runtime,
  inFlight: () => number,
): DeliveryMetrics {
  const registers = [metrics];
  gauges({ metrics, clock }, () => readQueue(database.pool, { now: clock.now() }), {
    ownline_due_deliveries: ['Deliveries whose attempt is due or running.', ({ depth }) => depth],
    ownline_due_deliveries_oldest_seconds: [
      'How late the oldest due delivery is.',
      ({ oldest }) => ageSeconds(clock, oldest),
    ],
  });
  gauges({ metrics }, inFlight, {
    ownline_deliveries_in_hand: ['Deliveries that this process has claimed.', Number],
  });
  const byState = async () => {
    const rows = await countWebhooks(database.pool);
    return Object.fromEntries(
      webhookStates.map((of) => [of, rows.find(({ state }) => state === of)?.count ?? 0]),
    );
  };
  const byLabel = { metrics, clock, cacheMs: webhooksCacheMs, label: 'state', fixed: webhookStates };
  labelledGauges(byLabel, byState, {
    ownline_webhooks: [
      'Webhooks by state: active, disabled_by_member, or disabled_by_failures after ten failed attempts in a row.',
      Number,
    ],
  });
  const attempts = new Counter({
    name: 'ownline_delivery_attempts_total',
    help: 'Attempts by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const lateness = new Histogram({
    name: 'ownline_delivery_attempt_late_seconds',
    help: 'How long after its due time an attempt began.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const disabled = new Counter({
    name: 'ownline_webhooks_disabled_total',
    help: 'Webhooks that were switched off by failures.',
    registers,
  });
  return {
    attempted: ({ claimed, outcome, startedAt }) => {
      attempts.inc({ outcome });
      lateness.observe(Math.max(0, startedAt.getTime() - claimed.due_at.getTime()) / 1_000);
    },
    disabled: (webhooks) => disabled.inc(webhooks),
  };
}
