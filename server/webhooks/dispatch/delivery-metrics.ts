import { Counter, Gauge, Histogram } from 'prom-client';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { addGauge, ageSeconds, cachedQuery } from '#server/platform/process/metrics.ts';
import type { AttemptResult } from './attempt-delivery.ts';

const selectQueue = query<{ now: Date }, { depth: number; oldest: Date | null }>(
  'webhooks.due-depth',
  'SELECT count(*) AS depth, min(due_at) AS oldest FROM due_deliveries WHERE due_at <= :now',
);

const countWebhooks = query<object, { disabled_by: 'member' | 'failures' | null; count: number }>(
  'webhooks.count-by-state',
  'SELECT disabled_by, count(*) AS count FROM webhooks GROUP BY disabled_by',
);

/** How long the counts of webhooks are cached; only people and failures change these counts. */
const webhooksCacheMs = 30_000;

export interface DeliveryMetrics {
  readonly attempted: (result: AttemptResult) => void;
  readonly disabled: (webhooks: number) => void;
}

/** Creates the metrics of deliveries (specification section 10.4). */
export function createDeliveryMetrics(
  { database, clock, metrics }: Pick<Runtime, 'database' | 'clock' | 'metrics'>,
  inFlight: () => number,
): DeliveryMetrics {
  const registers = [metrics];
  const queue = cachedQuery(clock, () => selectQueue.one(database.pool, { now: clock.now() }));
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    addGauge(metrics, name, help, read);
  gauge(
    'ownline_due_deliveries',
    'Deliveries whose attempt is due or running.',
    async () => (await queue()).depth,
  );
  gauge('ownline_due_deliveries_oldest_seconds', 'How late the oldest due delivery is.', async () =>
    ageSeconds(clock, (await queue()).oldest),
  );
  gauge('ownline_deliveries_in_hand', 'Deliveries that this process has claimed.', async () => inFlight());
  const counts = cachedQuery(clock, () => countWebhooks.rows(database.pool), webhooksCacheMs);
  new Gauge({
    name: 'ownline_webhooks',
    help: 'Webhooks by state: active, disabled_by_member, or disabled_by_failures after ten failed attempts in a row.',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      const rows = await counts().catch(() => undefined);
      for (const by of [null, 'member', 'failures'] as const) {
        const count = rows && (rows.find((row) => row.disabled_by === by)?.count ?? 0);
        this.set({ state: by === null ? 'active' : `disabled_by_${by}` }, count ?? Number.NaN);
      }
    },
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
