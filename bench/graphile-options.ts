import { Logger } from 'graphile-worker';

/** Options of a graphile-worker that logs errors only. It completes jobs in batches of `completeJobBatchDelay` ms. */
export function graphileOptions(
  concurrentJobs: number,
  localQueueSize: number,
  completeJobBatchDelay: number,
) {
  const logger = new Logger(() => (level, message) => {
    if (level === 'error') process.stderr.write(`${message}\n`);
  });
  const batches = { completeJobBatchDelay, failJobBatchDelay: 250 };
  const worker = { concurrentJobs, pollInterval: 500, localQueue: { size: localQueueSize }, ...batches };
  const connectionString = process.env.DATABASE_URL ?? '';
  return {
    logger,
    connectionString,
    maxPoolSize: 20,
    noHandleSignals: true,
    crontab: '',
    preset: { worker },
  };
}
