import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '#test/support/service/until.ts';

const settledMaxMs = 600_000;

/** Waits until phones have reported all messages, and webhooks have got their events. */
export async function untilSettled(pool: pg.Pool): Promise<void> {
  await until(
    'all are reported and delivered',
    async () => {
      await pause(200);
      const { rows } = await pool.query(
        `SELECT FROM send_queue UNION ALL SELECT FROM in_flight UNION ALL SELECT FROM unpublished_events
         UNION ALL SELECT FROM due_deliveries LIMIT 1`,
      );
      return rows.length === 0;
    },
    settledMaxMs,
  );
}
