import { Counter } from 'prom-client';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { ageSeconds, gauges } from '#server/platform/process/metrics.ts';
import type { MailHealth } from './mail-health.ts';

const readQueue = query<object, { depth: number; oldest: Date | null }>(
  'mail.waiting',
  'SELECT count(*) AS depth, min(created_at) AS oldest FROM mails WHERE body IS NOT NULL',
).one;

/**
 * Registers gauges of the waiting mails of all processes, queried for each request of /metrics, and a counter of this
 * process's attempts (specification section 10.4).
 */
export function registerMailMetrics({ database, clock, metrics }: Runtime, health: MailHealth): void {
  gauges({ metrics, clock }, () => readQueue(database.pool), {
    ownline_mails_queued: ['Mails that wait to be sent.', ({ depth }) => depth],
    ownline_mails_oldest_seconds: [
      'How long the oldest mail that waits to be sent has waited.',
      ({ oldest }) => ageSeconds(clock, oldest),
    ],
  });
  new Counter({
    name: 'ownline_mail_attempts_total',
    help: 'Attempts to send a mail by outcome: sent, failed and retried, or given up.',
    labelNames: ['end'] as const,
    registers: [metrics],
    collect() {
      this.reset();
      for (const [end, attempts] of Object.entries(health.attempts)) this.inc({ end }, attempts);
    },
  });
}
