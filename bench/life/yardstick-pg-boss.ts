import { PgBoss } from 'pg-boss';
import { reportHandOut } from './report-hand-outs.ts';
import { serveJobs } from './yardstick-jobs.ts';

/**
 * A yardstick of benchmark P10: a queue of pg-boss. It polls, because NOTIFY costs it a third of its rate. Its workers
 * fetch again at once as long as they get whole batches.
 * usage: DATABASE_URL=… node bench/life/yardstick-pg-boss.ts PORT
 */
const queue = 'sends';
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL ?? '', max: 64, schedule: false });
boss.on('error', (error) => process.stderr.write(`${error}\n`));
await boss.start();
await boss.createQueue(queue, { retryLimit: 5, retryBackoff: true });
await boss.work(
  queue,
  { localConcurrency: 4, batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
  async (jobs) => {
    for (const { id } of jobs) reportHandOut(id);
  },
);
await serveJobs(
  {
    add: async (send) => (await boss.send(queue, send)) ?? '',
    addAll: async (sends) =>
      (await boss.insert(
        queue,
        sends.map((data) => ({ data })),
        { returnId: true },
      )) ?? [],
  },
  Number(process.argv[2]),
);
