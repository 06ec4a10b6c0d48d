import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { until } from '#test/support/service/until.ts';

interface Call {
  readonly team: string;
  readonly n: number;
}

/** Makes a batcher with a queue per team, whose batches end when the test ends them. */
function manual(options: Partial<ConstructorParameters<typeof Batcher<Call, string>>[0]> = {}) {
  const batches: { inputs: readonly Call[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<Call, string>({
    run: (inputs) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      batches.push({ inputs, finish: () => resolve(inputs.map(({ n }) => `done ${n}`)), fail: reject });
      return promise;
    },
    ...{ sizeMax: 100, inFlightMax: 1, windowMs: 0, waitingMax: 10_000, queueOf: ({ team }) => team },
    refuse: () => new Error('full'),
    ...options,
  });
  const add = (n: number, team = 'a') => batcher.add({ team, n });
  return {
    batches,
    add,
    /** Adds calls of a team, which are numbered from 0. */
    addMany: (team: string, count: number) => Array.from({ length: count }, (_, n) => add(n, team)),
    /** The numbers of the calls of each batch so far. */
    inputs: () => batches.map((batch) => batch.inputs.map(({ n }) => n)),
    /** The numbers of a team's calls in a batch, once it has begun. */
    taken: async (index: number, team: string) => {
      const batch = await until('the next batch goes out', () => batches[index]);
      return batch.inputs.filter((input) => input.team === team).map(({ n }) => n);
    },
    turn: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
  };
}

describe('the batcher (decision 0005)', () => {
  it('calls within one iteration of the event loop form a batch, and calls during a running batch wait for the next batch', async () => {
    const { add, batches, inputs, turn } = manual();
    const first = [add(1), add(2)];
    await turn();
    const second = [add(3), add(4)];
    await turn();
    assert.deepEqual(inputs().join(' '), '1,2');
    batches[0]?.finish();
    assert.deepEqual(await Promise.all(first), ['done 1', 'done 2']);
    assert.deepEqual(inputs().join(' '), '1,2 3,4');
    batches[1]?.finish();
    assert.deepEqual(await Promise.all(second), ['done 3', 'done 4']);
  });

  it('calls that waited for a long batch run in two halves, one after the other', async () => {
    const { add, batches, inputs, turn } = manual();
    const calls = [add(0)];
    await turn();
    for (const n of [1, 2, 3, 4, 5, 6, 7]) calls.push(add(n));
    for (const expected of ['0 1,2,3,4', '0 1,2,3,4 5,6,7']) {
      batches.at(-1)?.finish();
      await turn();
      assert.equal(inputs().join(' '), expected);
    }
    batches[2]?.finish();
    await Promise.all(calls);
  });

  it('a window is multiplied by its stretch', async () => {
    const order: string[] = [];
    const batcherOf = (name: string, stretch: number) =>
      manual({
        windowMs: 10,
        stretch: () => stretch,
        run: async (inputs) => {
          order.push(name);
          return inputs.map(() => name);
        },
      });
    await Promise.all([batcherOf('stretched', 3).add(1), batcherOf('plain', 1).add(1)]);
    assert.deepEqual(order, ['plain', 'stretched']);
  });

  it('a batch that fails rejects each of its calls and no other', async () => {
    const { add, batches, turn } = manual();
    const lost = add(1);
    await turn();
    const kept = add(2);
    batches[0]?.fail(new Error('the database went away'));
    await assert.rejects(lost, /went away/);
    await turn();
    batches[1]?.finish();
    assert.equal(await kept, 'done 2');
  });

  it('a call for which its batch returns no result is rejected', async () => {
    const { add } = manual({ run: async () => ['done 1'] });
    const calls = await Promise.allSettled([add(1), add(2)]);
    assert.equal(calls.map((call) => call.status).join(), 'fulfilled,rejected');
  });

  it('the next batch starts before the results of the previous one are delivered, and the delivery lets other work run in between', async () => {
    const { add, addMany, batches, inputs, turn } = manual();
    const order: string[] = [];
    const calls: Promise<unknown>[] = addMany('a', 9).map((call) => call.then((text) => order.push(text)));
    await turn();
    calls.push(add(9));
    setImmediate(() => order.push('other work'));
    batches[0]?.finish();
    await until('the next batch goes out', () => batches[1]);
    assert.deepEqual(inputs()[1], [9]);
    batches[1]?.finish();
    await Promise.all(calls);
    assert.ok(order.indexOf('other work') < order.indexOf('done 8'), order.join(', '));
    const answers = order.filter((line) => line.startsWith('done'));
    assert.deepEqual(answers, answers.toSorted());
  });

  it('calls that do not fit into one batch run in simultaneous batches, up to the limit of batches', async () => {
    const { add, batches, inputs, turn } = manual({ sizeMax: 1, inFlightMax: 2 });
    const calls = [1, 2, 3].map((n) => add(n));
    await turn();
    assert.equal(inputs().join(' '), '1 2');
    batches[1]?.finish();
    assert.equal(await calls[1], 'done 2');
    assert.equal(inputs().join(' '), '1 2 3');
    batches[0]?.finish();
    batches[2]?.finish();
    assert.deepEqual(await Promise.all(calls), ['done 1', 'done 2', 'done 3']);
  });

  it('teams are served round robin, even if a batch holds fewer calls than there are teams', async () => {
    const { addMany, batches, taken, turn } = manual({ sizeMax: 4 });
    addMany('burst', 100);
    await turn();
    const teams = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const team of teams) addMany(team, 2);
    const served = new Set<string>();
    for (let index = 0; index <= 3; index += 1) {
      for (const team of teams) if ((await taken(index, team)).length > 0) served.add(team);
      batches[index]?.finish();
    }
    assert.deepEqual([...served].sort(), teams, 'each has had a turn in 12 calls of 7 teams');
  });

  it('a team that fills the queue is refused at once, and other teams are refused only beyond their share', async () => {
    const { addMany, turn } = manual({ waitingMax: 100, sizeMax: 10 });
    const refusals = (calls: Promise<string>[]) => {
      const refused: number[] = [];
      for (const [index, call] of calls.entries()) call.catch(() => refused.push(index));
      return refused;
    };
    const running = refusals(addMany('burst', 10));
    await turn();
    const burst = refusals(addMany('burst', 120));
    const other = refusals(addMany('other', 60));
    const third = refusals(addMany('third', 1));
    const again = refusals(addMany('burst', 1));
    await turn();
    assert.deepEqual(running, []);
    assert.deepEqual([burst.length, burst[0]], [20, 100], 'one team alone has all of it');
    assert.deepEqual([other.length, other[0]], [10, 50], 'half of it for each of two');
    assert.deepEqual([third, again], [[], [0]]);
  });
});
