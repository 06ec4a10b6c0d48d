import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { Lifecycle } from '#server/platform/process/lifecycle.ts';
import { createLogger } from '#server/platform/process/logger.ts';

const logger = createLogger('silent');

const newLoop = (run: ConstructorParameters<typeof Loop>[0]['run'], intervalMs = 3_600_000) =>
  new Loop({ name: 'test', intervalMs, logger, run });
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('loops and the lifecycle (specification section 10.3)', () => {
  it('rounds of a loop never overlap, and any number of requests during a round cause one more round', async () => {
    const rounds: (() => void)[] = [];
    let running = 0;
    const loop = newLoop(async () => {
      running += 1;
      assert.equal(running, 1);
      await new Promise<void>((resolve) => rounds.push(resolve));
      running -= 1;
    });
    loop.start();
    loop.notify();
    loop.notify();
    assert.equal(rounds.length, 1);
    rounds[0]?.();
    await turns(1);
    assert.equal(rounds.length, 2);
    let isOver = false;
    const stopped = loop.stop().then(() => {
      isOver = true;
    });
    loop.notify();
    await turns(1);
    assert.equal(isOver, false, 'stop awaits the round in progress');
    rounds[1]?.();
    await stopped;
    assert.equal(rounds.length, 2, 'nothing begins after stop');
  });

  it('a round that returns `again` is followed by another round at once, but not after a stop', async () => {
    let rounds = 0;
    const loop = newLoop(async () => {
      rounds += 1;
      if (rounds === 5) void loop.stop();
      return rounds < 3 || rounds === 5 ? 'again' : undefined;
    });
    loop.start();
    await turns(10);
    assert.equal(rounds, 3, 'without a request the loop waits');
    loop.notify();
    loop.notify();
    await turns(10);
    assert.equal(rounds, 5);
  });

  it('a round that fails does not end the loop', async () => {
    const done = Promise.withResolvers<void>();
    let rounds = 0;
    const loop = newLoop(async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('once');
      done.resolve();
    }, 1);
    loop.start();
    await done.promise;
    await loop.stop();
    assert.ok(rounds >= 2);
  });

  it('the lifecycle closes its parts once, in the reverse order of opening, even if a close fails', async () => {
    const closed: string[] = [];
    const lifecycle = new Lifecycle(logger);
    lifecycle.onClose('database', async () => void closed.push('database'));
    lifecycle.onClose('loops', () => Promise.reject(new Error('stuck')));
    lifecycle.onClose('http', async () => void closed.push('http'));
    assert.equal(lifecycle.stopping, false);
    await Promise.all([lifecycle.close(), lifecycle.close()]);
    assert.equal(lifecycle.stopping, true);
    assert.deepEqual(closed, ['http', 'database']);
  });
});
