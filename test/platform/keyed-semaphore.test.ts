import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import { Clock } from '#server/platform/time/clock.ts';

describe('the semaphore per key (§8/team-concurrency)', () => {
  const clock = new Clock();
  const newSemaphore = () => new KeyedSemaphore({ clock, runningMax: 2 });
  const queueOf = (name: string): QueueBounds => ({
    name,
    waitingMax: 3,
    waitMaxMs: name === 'patient' ? 60_000 : 5_000,
    refuse: () => new Error('refused'),
  });

  /** Makes tasks that end when the test ends them. `begun` has the names of started tasks in order. */
  function works(semaphore: KeyedSemaphore) {
    const begun: string[] = [];
    const running = new Map<string, PromiseWithResolvers<string>>();
    const start = (key: string, queue: string, name: string): Promise<string> =>
      semaphore
        .run(key, queueOf(queue), () => {
          begun.push(name);
          const work = Promise.withResolvers<string>();
          running.set(name, work);
          return work.promise;
        })
        .catch((error: Error) => error.message);
    const end = async (name: string) => {
      running.get(name)?.resolve(name);
      await nextTurn();
    };
    const fail = async (name: string) => {
      running.get(name)?.reject(new Error('failed'));
      await nextTurn();
    };
    return { begun, start, end, fail };
  }

  it('each key of the semaphore runs a limited number of tasks, and queues the others in order up to a bound', async () => {
    const semaphore = newSemaphore();
    const { begun, start, end, fail } = works(semaphore);
    const all = ['1', '2', '3', '4', '5', '6'].map((name) => start('busy', 'only', name));
    const other = start('other', 'only', 'other');
    await nextTurn();
    assert.deepEqual(begun, ['1', '2', 'other']);
    assert.equal(await all[5], 'refused');
    await fail('2');
    assert.equal(await all[1], 'failed');
    assert.deepEqual(begun, ['1', '2', 'other', '3'], 'a work that fails passes its permit on');
    for (const name of ['1', '3', '4', '5', 'other']) await end(name);
    assert.deepEqual(await Promise.all(all), ['1', 'failed', '3', '4', '5', 'refused']);
    assert.equal(await other, 'other');
    assert.equal(semaphore.size, 0, 'keys that are idle are not remembered');
  });

  it('the queues of one key are served round robin, and each has its own length limit', async () => {
    const { begun, start, end } = works(newSemaphore());
    for (const name of ['1', '2']) void start('key', 'long', name);
    const long = ['a', 'b', 'c', 'd'].map((name) => start('key', 'long', name));
    const short = ['x', 'y'].map((name) => start('key', 'short', name));
    assert.equal(await long[3], 'refused');
    for (const name of ['1', '2', 'a', 'x', 'b', 'y', 'c']) await end(name);
    assert.deepEqual(begun, ['1', '2', 'a', 'x', 'b', 'y', 'c']);
    assert.deepEqual(await Promise.all(short), ['x', 'y']);
  });

  it('a task that waited too long is refused and never runs, and the tasks behind it keep their order', async () => {
    const { begun, start, end } = works(newSemaphore());
    for (const name of ['1', '2']) void start('key', 'only', name);
    const early = start('key', 'only', 'early');
    clock.advance(4_000);
    const late = start('key', 'only', 'late');
    clock.advance(1_000);
    assert.equal(await early, 'refused');
    await end('1');
    await end('late');
    assert.equal(await late, 'late');
    assert.deepEqual(begun, ['1', '2', 'late']);
    await end('2');
  });

  it('each queue of the semaphore has its own maximum wait', async () => {
    const { start, end } = works(newSemaphore());
    for (const name of ['1', '2']) void start('key', 'only', name);
    const short = start('key', 'only', 'short');
    const long = start('key', 'patient', 'long');
    clock.advance(5_000);
    assert.equal(await short, 'refused');
    await end('1');
    await end('long');
    assert.equal(await long, 'long');
    await end('2');
  });
});
