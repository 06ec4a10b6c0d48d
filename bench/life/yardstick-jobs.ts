import { fastify } from 'fastify';
import { bodySchema, readSend, type SendBody } from '../send/yardstick-body.ts';

/** A job-queue library to compare with. Each function resolves to the ids of the jobs after its commit. */
export interface Jobs {
  readonly add: (send: SendBody) => Promise<string>;
  readonly addAll: (sends: readonly SendBody[]) => Promise<readonly string[]>;
}

const groupMax = 256;

/** Serves `/plain`, which adds one job, and `/grouped`, which adds the jobs of concurrent requests in one statement. */
export async function serveJobs({ add, addAll }: Jobs, port: number): Promise<void> {
  const server = fastify();
  for (const [path, enqueue] of Object.entries({ '/plain': add, '/grouped': inGroups(addAll) }))
    server.post(path, { schema: { body: bodySchema } }, async (request, reply) => {
      const id = await enqueue(readSend(request.body));
      reply.code(202);
      return { id, status: 'queued' };
    });
  await server.listen({ host: '127.0.0.1', port });
}

/** Groups commits as a skilled user would: one statement at a time, for all jobs that arrived meanwhile. */
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
