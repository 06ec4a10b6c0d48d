import { makeWorkerUtils, run } from 'graphile-worker';
import { graphileOptions } from '../graphile-options.ts';
import { reportHandOut } from './report-hand-outs.ts';
import { serveJobs } from './yardstick-jobs.ts';

/**
 * A yardstick of benchmark P10: graphile-worker with 200 concurrent jobs and its local queue.
 * usage: DATABASE_URL=… node bench/life/yardstick-graphile-worker.ts PORT
 */
const options = graphileOptions(200, 201, 0);
await run({ ...options, taskList: { send: async (_, { job }) => reportHandOut(job.id) } });
const { addJob, addJobs } = await makeWorkerUtils(options);
await serveJobs(
  {
    add: async (send) => (await addJob('send', send)).id,
    addAll: async (sends) =>
      (await addJobs(sends.map((payload) => ({ identifier: 'send', payload })))).map(({ id }) => id),
  },
  Number(process.argv[2]),
);
