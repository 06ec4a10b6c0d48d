import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';

const stopMs = 5_000;

/** Resolves once the callbacks of all promises that are settled now have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Running {
  readonly task: number;
  readonly signal: AbortSignal;
  readonly end: () => void;
}

/** A worker with two slots. Its tasks run until a test ends them or their signal aborts. */
function startWorker(context: TestContext, queue: number[]) {
  const clock = new Clock();
  const running: Running[] = [];
  const worker = new QueueWorker<number>({
    name: 'test',
    clock,
    logger: createLogger('silent'),
    sweepMs: 3_600_000,
    runningMax: 2,
    stopMs,
    claim: async ({ length }) => queue.splice(0, 2 - length),
    run: (task, signal) =>
      new Promise((end) => {
        running.push({ task, signal, end });
        signal.addEventListener('abort', () => end());
      }),
  });
  context.after(() => {
    const stopped = worker.stop();
    for (const { end } of running) end();
    return stopped;
  });
  worker.start();
  return { clock, worker, running, begun: () => running.map(({ task }) => task) };
}

describe('a queue worker (specification section 10.3)', () => {
  it('a worker fills each free slot as soon as a task has ended, even beside a slow task', async (context) => {
    const { running, begun } = startWorker(context, [1, 2, 3, 4]);
    await settled();
    assert.deepEqual(begun(), [1, 2]);
    running[1]?.end();
    await settled();
    assert.deepEqual(begun(), [1, 2, 3]);
    running[2]?.end();
    await settled();
    assert.deepEqual(begun(), [1, 2, 3, 4]);
  });

  it('a stop starts no task, lets running tasks go on for the stop period, and then aborts them', async (context) => {
    const { clock, worker, running, begun } = startWorker(context, [1, 2, 3]);
    await settled();
    let isOver = false;
    const stopped = worker.stop().then(() => {
      isOver = true;
    });
    running[1]?.end();
    await settled();
    clock.advance(stopMs - 1_000);
    await settled();
    assert.deepEqual([running[0]?.signal.aborted, isOver], [false, false]);
    clock.advance(1_000);
    await stopped;
    assert.equal(running[0]?.signal.aborted, true);
    assert.deepEqual(begun(), [1, 2], 'nothing begins after stop');
  });

  it('a stop ends with the last task, and does not wait for the whole stop period', async (context) => {
    const { worker, running } = startWorker(context, [1]);
    await settled();
    const stopped = worker.stop();
    running[0]?.end();
    await stopped;
    assert.equal(running[0]?.signal.aborted, false);
  });
});
