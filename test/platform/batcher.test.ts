import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { until } from '#test/support/service/until.ts';

/** A batcher whose batches the test finishes itself. */
function manual(
  options: { inFlightMax?: number; waitingMax?: number; sizeMax?: number; windowMs?: number } = {},
) {
  const batches: { inputs: readonly number[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<number, string>({
    run: (inputs) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      batches.push({ inputs, finish: () => resolve(inputs.map((n) => `done ${n}`)), fail: reject });
      return promise;
    },
    sizeMax: options.sizeMax ?? 100,
    inFlightMax: options.inFlightMax ?? 1,
    windowMs: options.windowMs ?? 0,
    waitingMax: options.waitingMax ?? 100,
    refuse: () => new Error('full'),
  });
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { batcher, batches, turn };
}

describe('batches (decision 0005)', () => {
  it('what comes in one turn goes together, and what comes while a batch runs waits for the next', async () => {
    const { batcher, batches, turn } = manual();
    const first = [batcher.add(1), batcher.add(2)];
    await turn();
    const second = [batcher.add(3), batcher.add(4)];
    await turn();
    assert.deepEqual(
      batches.map((batch) => batch.inputs),
      [[1, 2]],
    );
    batches[0]?.finish();
    assert.deepEqual(await Promise.all(first), ['done 1', 'done 2']);
    assert.deepEqual(
      batches.map((batch) => batch.inputs),
      [
        [1, 2],
        [3, 4],
      ],
    );
    batches[1]?.finish();
    assert.deepEqual(await Promise.all(second), ['done 3', 'done 4']);
  });

  it('what waited for a long batch goes out in halves, so that one is stored while the other is answered', async () => {
    const { batcher, batches, turn } = manual();
    const calls = [batcher.add(0)];
    await turn();
    calls.push(...[1, 2, 3, 4, 5, 6, 7].map((n) => batcher.add(n)));
    const sizes = () => batches.map((batch) => batch.inputs.length);
    batches[0]?.finish();
    await turn();
    assert.deepEqual(sizes(), [1, 4]);
    batches[1]?.finish();
    await turn();
    assert.deepEqual(sizes(), [1, 4, 3]);
    batches[2]?.finish();
    await Promise.all(calls);
    assert.deepEqual(
      batches.flatMap((batch) => batch.inputs),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
  });

  it('a batch that fails rejects each of its calls and no other', async () => {
    const { batcher, batches, turn } = manual();
    const lost = batcher.add(1);
    await turn();
    const kept = batcher.add(2);
    batches[0]?.fail(new Error('the database went away'));
    await assert.rejects(lost, /went away/);
    await turn();
    batches[1]?.finish();
    assert.equal(await kept, 'done 2');
  });

  it('a call that its batch gives no answer to is rejected, never left with nothing', async () => {
    const batcher = new Batcher<number, string>({
      run: async () => ['done 1'],
      sizeMax: 100,
      inFlightMax: 1,
      windowMs: 0,
      waitingMax: 100,
      refuse: () => new Error('full'),
    });
    const calls = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
    assert.deepEqual(
      calls.map((call) => call.status),
      ['fulfilled', 'rejected'],
    );
  });

  it('the answers of a batch let other work in between, and the next batch goes out before them', async () => {
    const { batcher, batches, turn } = manual();
    const order: string[] = [];
    const calls: Promise<unknown>[] = Array.from({ length: 9 }, (_, n) =>
      batcher.add(n).then(() => order.push(`answer ${n}`)),
    );
    await turn();
    calls.push(batcher.add(9));
    setImmediate(() => order.push('other work'));
    batches[0]?.finish();
    await until('the next batch goes out', () => batches[1]);
    assert.deepEqual(batches[1]?.inputs, [9]);
    batches[1]?.finish();
    await Promise.all(calls);
    assert.ok(order.indexOf('other work') < order.indexOf('answer 8'), order.join(', '));
    assert.deepEqual(
      order.filter((line) => line.startsWith('answer')),
      Array.from({ length: 9 }, (_, n) => `answer ${n}`),
    );
  });

  it('what is more than one batch holds goes out beside it, as far as batches may run at once', async () => {
    const { batcher, batches, turn } = manual({ sizeMax: 1, inFlightMax: 2 });
    const calls = [1, 2, 3].map((n) => batcher.add(n));
    await turn();
    const inputs = () => batches.map((batch) => batch.inputs);
    assert.deepEqual(inputs(), [[1], [2]]);
    batches[1]?.finish();
    assert.equal(await calls[1], 'done 2');
    assert.deepEqual(inputs(), [[1], [2], [3]]);
    batches[0]?.finish();
    batches[2]?.finish();
    assert.deepEqual(await Promise.all(calls), ['done 1', 'done 2', 'done 3']);
  });

  it('with a window the first call waits for those of later turns', async () => {
    const { batcher, batches, turn } = manual({ windowMs: 300 });
    const calls = [batcher.add(1)];
    await turn();
    calls.push(batcher.add(2));
    await until('the window is over', () => batches.length > 0);
    assert.deepEqual(
      batches.map((batch) => batch.inputs),
      [[1, 2]],
    );
    batches[0]?.finish();
    assert.deepEqual(await Promise.all(calls), ['done 1', 'done 2']);
  });

  it('more than may wait is refused at once', async () => {
    const { batcher, batches, turn } = manual({ waitingMax: 2 });
    const running = batcher.add(1);
    await turn();
    const waiting = [batcher.add(2), batcher.add(3)];
    await assert.rejects(batcher.add(4), /full/);
    batches[0]?.finish();
    await running;
    batches[1]?.finish();
    await Promise.all(waiting);
  });
});
