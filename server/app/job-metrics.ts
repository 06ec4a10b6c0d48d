import { Counter } from 'prom-client';
import type { Runtime } from '#server/database/runtime.ts';
import { jobState } from '#server/platform/concurrency/job-health.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import { labelledGauges } from '#server/platform/process/metrics.ts';

/**
 * Registers the health of this process's background jobs, read for each request of /metrics (specification section
 * 10.4). The label is `name`, because Prometheus adds a label `job` itself.
 */
export function registerJobMetrics(
  { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>,
  jobs: () => readonly Loop[],
): void {
  const byName = () => Object.fromEntries(jobs().map((job) => [job.name, job]));
  labelledGauges({ metrics, label: 'name' }, byName, {
    ownline_job_last_success_timestamp_seconds: [
      'When a background job of this process last succeeded, in Unix time; absent before its first success.',
      ({ health: { lastSuccessAtMs: atMs } }) => (atMs === undefined ? undefined : clock.atMs(atMs) / 1_000),
    ],
    ownline_job_last_duration_seconds: [
      'How long the latest finished round of a background job took.',
      ({ health: { lastDurationMs: ms } }) => (ms === undefined ? undefined : ms / 1_000),
    ],
    ownline_job_late: [
      '1 where a background job has not succeeded for three intervals and five minutes more, else 0.',
      ({ health, intervalMs }) => (jobState(health, intervalMs, performance.now()) === 'late' ? 1 : 0),
    ],
  });
  new Counter({
    name: 'ownline_job_failures_total',
    help: 'Rounds of a background job that failed; each is repeated.',
    labelNames: ['name'] as const,
    registers: [metrics],
    collect() {
      this.reset();
      for (const { name, health } of jobs()) this.inc({ name }, health.failures);
    },
  });
}
