import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Semaphore } from '#server/platform/concurrency/semaphore.ts';

describe('the semaphore (decision 0005)', () => {
  it('a semaphore limits simultaneous tasks, runs the others in order, and frees the permit of one that fails', async () => {
    const turns = new Semaphore(2);
    const begun: number[] = [];
    const works = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    const done = works.map((work, n) =>
      turns
        .run(() => {
          begun.push(n);
          return work.promise;
        })
        .catch((error: Error) => error.message),
    );
    assert.deepEqual(begun, [0, 1]);
    works[1]?.reject(new Error('failed'));
    assert.equal(await done[1], 'failed');
    assert.deepEqual(begun, [0, 1, 2]);
    for (const work of works) work.resolve();
    await Promise.all(done);
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
    assert.equal(await turns.run(async () => 'free again'), 'free again');
  });
});
