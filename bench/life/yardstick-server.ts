import { fastify } from 'fastify';
import { makeWorkerUtils, run } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { graphileOptions } from '../graphile-options.ts';
import { bodySchema, readSend, type SendBody } from '../send/yardstick-body.ts';
import { reportHandOut } from './report-hand-outs.ts';

/** A library of jobs. Each function commits before it resolves to the ids of the jobs. */
interface Jobs {
  readonly add: (send: SendBody) => Promise<string>;
  readonly addAll: (sends: readonly SendBody[]) => Promise<readonly string[]>;
}

const groupMax = 256;

/** Serves `/plain`, which adds one job, and `/grouped`, which adds the jobs of concurrent requests in one statement. */
async function serveJobs({ add, addAll }: Jobs, port: number): Promise<void> {
  const server = fastify();
  for (const [path, enqueue] of Object.entries({ '/plain': add, '/grouped': inGroups(addAll) }))
    server.post(path, { schema: { body: bodySchema } }, async (request, reply) => {
      const id = await enqueue(readSend(request.body));
      reply.code(202);
      return { id, status: 'queued' };
    });
  await server.listen({ host: '127.0.0.1', port });
}

/** Groups commits as a skilled user would: one statement at a time, for all that waited meanwhile. */
function inGroups(addAll: Jobs['addAll']): Jobs['add'] {
  let waiting: { readonly send: SendBody; readonly added: PromiseWithResolvers<string> }[] = [];
  let isBusy = false;
  const run = async () => {
    while (waiting.length > 0) {
      const group = waiting.slice(0, groupMax);
      waiting = waiting.slice(groupMax);
      const added = await addAll(group.map(({ send }) => send));
      for (const [index, one] of group.entries()) one.added.resolve(added[index] ?? '');
    }
    isBusy = false;
  };
  return (send) => {
    const added = Promise.withResolvers<string>();
    waiting.push({ send, added });
    if (!isBusy) setImmediate(run);
    isBusy = true;
    return added.promise;
  };
}

const queue = 'sends';

/** Functions by library name, each of which starts a job-queue library with its workers. */
const libraries: Readonly<Record<string, () => Promise<Jobs>>> = {
  /** graphile-worker with 200 concurrent jobs and its local queue. */
  'graphile-worker': async () => {
    const options = graphileOptions(200, 201, 0);
    await run({ ...options, taskList: { [queue]: async (_, { job }) => reportHandOut(job.id) } });
    const { addJob, addJobs } = await makeWorkerUtils(options);
    return {
      add: async (send) => (await addJob(queue, send)).id,
      addAll: async (sends) =>
        (await addJobs(sends.map((payload) => ({ identifier: queue, payload })))).map(({ id }) => id),
    };
  },
  /**
   * A queue of pg-boss. It polls, because NOTIFY costs it a third of its rate. Its workers fetch again at once as long
   * as they get whole batches.
   */
  'pg-boss': async () => {
    const connectionString = process.env.DATABASE_URL ?? '';
    const boss = new PgBoss({ connectionString, max: 64, schedule: false });
    boss.on('error', (error) => process.stderr.write(`${error}\n`));
    await boss.start();
    await boss.createQueue(queue, { retryLimit: 5, retryBackoff: true });
    const batches = { batchSize: 50, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
    await boss.work(queue, { localConcurrency: 4, ...batches }, async (jobs) => {
      for (const { id } of jobs) reportHandOut(id);
    });
    return {
      add: async (send) => (await boss.send(queue, send)) ?? '',
      addAll: async (sends) => {
        const jobs = sends.map((data) => ({ data }));
        return (await boss.insert(queue, jobs, { returnId: true })) ?? [];
      },
    };
  },
};

/**
 * A yardstick of benchmark P10.
 * usage: DATABASE_URL=… node bench/life/yardstick-server.ts LIBRARY PORT
 */
const [name = '', port = '0'] = process.argv.slice(2);
const jobs = await libraries[name]?.();
if (!jobs) throw new Error(`There is no library "${name}".`);
await serveJobs(jobs, Number(port));
