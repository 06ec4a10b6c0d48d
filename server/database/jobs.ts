import { setTimeout } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { jobState, Loop } from '#server/platform/concurrency/loop.ts';
import { labelledGauges } from '#server/platform/process/metrics.ts';
import type { ClockSync } from './clock-sync.ts';
import type { NotificationListener } from './listener.ts';
import type { Runtime } from './runtime.ts';
import type { Job, Runner, Sweep } from './slice.ts';

type Services = Runtime & { readonly clockSync: ClockSync };

/** The background jobs of this process, by its roles. */
export class Jobs {
  readonly #jobs: readonly { readonly job: Job; readonly runner: Runner }[];

  constructor(services: Services, jobs: readonly Job[]) {
    const { processRoles } = services.config;
    const own = jobs.filter(({ role }) => role === undefined || processRoles.has(role));
    // Workers start first, because the first round of a sweep may take long.
    const workers = own.filter((job) => 'worker' in job).map((job) => ({ job, runner: job.worker() }));
    const sweeps = own.filter((job) => 'sweep' in job);
    this.#jobs = [...workers, ...sweeps.map((job) => ({ job, runner: createSweepLoop(services, job) }))];
  }

  get loops(): readonly Loop[] {
    return this.#jobs.flatMap(({ runner }) => runner.loops);
  }

  listen(notifications: NotificationListener): void {
    for (const { job, runner } of this.#jobs)
      if (job.wokenBy !== undefined) notifications.on(job.wokenBy, (payload) => runner.notify(payload));
  }

  notify(): void {
    for (const { runner } of this.#jobs) runner.notify();
  }

  /** Starts the jobs that need a listening server, or all other jobs. @returns the function that stops them */
  start({ afterListening }: { readonly afterListening: boolean }): () => Promise<void> {
    const started = this.#jobs.filter(({ job }) => 'afterListening' in job === afterListening);
    return startInTurn(started.map(({ runner }) => runner));
  }
}

/** Creates the loop of a sweep. Its rounds do nothing while rows may not expire. */
export function createSweepLoop({ logger, restoreHold, clockSync }: Services, job: Sweep): Loop {
  const { sweep: name, intervalMs, shareMax, expiry } = job;
  const run = async () => {
    if (expiry !== 'keeps' && !clockSync.mayExpire()) return;
    if (expiry === 'expires' && restoreHold.isHeld) return;
    return job.run();
  };
  return new Loop({ name, intervalMs, shareMax, logger, run });
}

/**
 * Starts loops one after the other, so that their first rounds share a few connections instead of opening many. A long
 * first round delays the next loop by at most 100 ms. @returns the function that stops the loops
 */
function startInTurn(runners: readonly Runner[]): () => Promise<void> {
  const turnMaxMs = 100;
  let stopped = false;
  const started = (async () => {
    for (const runner of runners) {
      if (stopped) return;
      await Promise.race([runner.start(), setTimeout(turnMaxMs, undefined, { ref: false })]);
    }
  })();
  return async () => {
    stopped = true;
    await started;
    await Promise.all(runners.map((runner) => runner.stop()));
  };
}

/**
 * Registers the health of this process's background jobs, read for each request of /metrics (specification section
 * 10.4). The label is `name`, because Prometheus adds a label `job` itself.
 */
export function registerJobMetrics({ clock, metrics }: Runtime, loops: readonly Loop[]): void {
  const byName = () => Object.fromEntries(loops.map((loop) => [loop.name, loop]));
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
      for (const { name, health } of loops) this.inc({ name }, health.failures);
    },
  });
}
