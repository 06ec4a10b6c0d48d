import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { Lifecycle } from '#server/platform/process/lifecycle.ts';
import { createLogger } from '#server/platform/process/logger.ts';

const logger = createLogger('silent');

describe('loops and the lifecycle (specification section 10.3)', () => {
  it('rounds of a loop never overlap, and requests during a round make one more round', async () => {
    const rounds: (() => void)[] = [];
    let running = 0;
    const loop = new Loop({
      name: 'test',
      intervalMs: 3_600_000,
      logger,
      run: async () => {
        running += 1;
        assert.equal(running, 1);
        await new Promise<void>((resolve) => rounds.push(resolve));
        running -= 1;
      },
    });
    loop.start();
    loop.notify();
    loop.notify();
    assert.equal(rounds.length, 1);
    rounds[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rounds.length, 2);
    let isOver = false;
    const stopped = loop.stop().then(() => {
      isOver = true;
    });
    loop.notify();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false, 'stop awaits the round in progress');
    rounds[1]?.();
    await stopped;
    assert.equal(rounds.length, 2, 'nothing begins after stop');
  });

  it('a round that returns `again` is followed by the next one at once, and not after a stop', async () => {
    let rounds = 0;
    const loop = new Loop({
      name: 'test',
      intervalMs: 3_600_000,
      logger,
      run: async () => {
        rounds += 1;
        if (rounds === 5) void loop.stop();
        return rounds < 3 || rounds === 5 ? 'again' : undefined;
      },
    });
    loop.start();
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rounds, 3);
    loop.notify();
    loop.notify();
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(rounds, 5);
  });

  it('one request makes one more round, and then the loop waits', async () => {
    let rounds = 0;
    const loop = new Loop({
      name: 'test',
      intervalMs: 3_600_000,
      logger,
      run: async () => {
        rounds += 1;
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
    loop.start();
    loop.notify();
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await loop.stop();
    assert.equal(rounds, 2);
  });

  it('a round that fails does not end the loop', async () => {
    let rounds = 0;
    const loop = new Loop({
      name: 'test',
      intervalMs: 1,
      logger,
      run: async () => {
        rounds += 1;
        if (rounds === 1) throw new Error('once');
        done.resolve();
      },
    });
    const done = Promise.withResolvers<void>();
    loop.start();
    await done.promise;
    await loop.stop();
    assert.ok(rounds >= 2);
  });

  it('the lifecycle closes its parts once, in the reverse order of opening, even if one fails', async () => {
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
