import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { until } from '#test/support/service/until.ts';

/** Makes a batcher whose batches end when the test ends them. */
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

describe('the batcher (decision 0005)', () => {
  it('calls of one iteration of the event loop form a batch, and calls during a batch wait for the next', async () => {
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

  it('calls that waited for a long batch run in two halves, one after the other', async () => {
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

  it('a call that its batch does not answer is rejected', async () => {
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

  it('the next batch starts before the previous one is answered, and answering lets other work run in between', async () => {
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

  it('calls that do not fit into one batch run in simultaneous batches, up to the limit of batches', async () => {
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

  it('the first call of a batcher with a window waits for later calls', async () => {
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

  it('calls beyond the waiting limit are refused at once', async () => {
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

  describe('a batcher with a queue per team', () => {
    interface Send {
      readonly team: string;
      readonly n: number;
    }

    /**
     * Makes a batcher for sends of several teams, whose batches end when the test ends them. The inputs of a batch
     * show which calls waited.
     */
    function ofTeams(options: { waitingMax?: number; sizeMax?: number } = {}) {
      const batches: { inputs: readonly Send[]; finish: () => void }[] = [];
      const batcher = new Batcher<Send, number>({
        run: (inputs) => {
          const { promise, resolve } = Promise.withResolvers<readonly number[]>();
          batches.push({ inputs, finish: () => resolve(inputs.map(({ n }) => n)) });
          return promise;
        },
        sizeMax: options.sizeMax ?? 100,
        inFlightMax: 1,
        windowMs: 0,
        waitingMax: options.waitingMax ?? 10_000,
        queueOf: ({ team }) => team,
        refuse: () => new Error('full'),
      });
      const add = (team: string, count: number, first = 0) =>
        Array.from({ length: count }, (_, index) => batcher.add({ team, n: first + index }));
      const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      const taken = (index: number, team: string) =>
        batches[index]?.inputs.filter((input) => input.team === team).map(({ n }) => n);
      return { batches, add, turn, taken };
    }

    it('a call is in the next batch, however many of another team wait', async () => {
      const { batches, add, turn, taken } = ofTeams();
      add('burst', 4_500);
      await turn();
      add('other', 1);
      batches[0]?.finish();
      await until('the next batch goes out', () => batches[1]);
      assert.deepEqual(taken(1, 'other'), [0]);
      assert.equal(batches[1]?.inputs.length, 100, 'the burst fills what is left');
    });

    it('teams are served round robin, even if a batch holds fewer calls than there are teams', async () => {
      const { batches, add, turn, taken } = ofTeams({ sizeMax: 4 });
      add('burst', 100);
      await turn();
      const teams = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const team of teams) add(team, 2);
      for (let index = 0; index < 3; index += 1) {
        await until('the next batch goes out', () => batches[index]);
        batches[index]?.finish();
      }
      await until('the next batch goes out', () => batches[3]);
      for (const team of teams) {
        const calls = [1, 2, 3].flatMap((index) => taken(index, team) ?? []);
        assert.ok(calls.length >= 1, `${team} has had no turn in 12 calls of 7 teams`);
      }
    });

    it('calls of one team stay in order', async () => {
      const { batches, add, turn } = ofTeams({ sizeMax: 10 });
      add('a', 35);
      await turn();
      add('b', 25);
      const all: Send[] = [];
      for (let index = 0; all.length < 60; index += 1) {
        await until('the next batch goes out', () => batches[index]);
        all.push(...(batches[index]?.inputs ?? []));
        batches[index]?.finish();
      }
      for (const [team, count] of [
        ['a', 35],
        ['b', 25],
      ] as const) {
        const calls = all.filter((input) => input.team === team).map(({ n }) => n);
        assert.deepEqual(
          calls,
          Array.from({ length: count }, (_, n) => n),
        );
      }
    });

    it('a team that fills the queue is refused, and each other team only beyond its share', async () => {
      const { add, turn } = ofTeams({ waitingMax: 100, sizeMax: 10 });
      const refusals = (calls: Promise<number>[]) => {
        const refused: number[] = [];
        for (const [index, call] of calls.entries()) call.catch(() => refused.push(index));
        return refused;
      };
      const running = refusals(add('burst', 10));
      await turn();
      const burst = refusals(add('burst', 120));
      const other = refusals(add('other', 60));
      const third = refusals(add('third', 1));
      const again = refusals(add('burst', 1));
      await turn();
      assert.deepEqual(running, []);
      assert.deepEqual([burst.length, burst[0]], [20, 100], 'one team alone has all of it');
      assert.deepEqual([other.length, other[0]], [10, 50], 'half of it for each of two');
      assert.deepEqual(third, []);
      assert.deepEqual(again, [0]);
    });
  });
});
