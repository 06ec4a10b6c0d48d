import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jobState, Loop } from '#server/platform/concurrency/loop.ts';
import { createLogger } from '#server/platform/process/logger.ts';

const minute = 60_000;

describe('the health of background jobs (specification section 10.4)', () => {
  it('a job is late after three intervals plus five minutes without a success, counted from its start at first', () => {
    const intervalMs = minute;
    const state = (at: { startedAtMs?: number; lastSuccessAtMs?: number; lastError?: string }) =>
      jobState(
        {
          startedAtMs: at.startedAtMs,
          lastSuccessAtMs: at.lastSuccessAtMs,
          lastError: at.lastError,
          lastRunAtMs: undefined,
          lastDurationMs: undefined,
          failures: 0,
        },
        intervalMs,
        10 * minute,
      );
    assert.equal(state({}), 'starting');
    assert.equal(state({ startedAtMs: 2 * minute }), 'starting');
    assert.equal(state({ startedAtMs: 2 * minute - 1 }), 'late');
    assert.equal(state({ startedAtMs: 0, lastSuccessAtMs: 2 * minute }), 'ok');
    assert.equal(state({ startedAtMs: 0, lastSuccessAtMs: 2 * minute - 1 }), 'late');
    assert.equal(state({ startedAtMs: 0, lastSuccessAtMs: 9 * minute, lastError: 'refused' }), 'failing');
    assert.equal(state({ startedAtMs: 0, lastSuccessAtMs: 0, lastError: 'refused' }), 'late');
  });

  it('a job counts its failures, and a success clears the error but not the count', async () => {
    const errors: unknown[] = [
      new Error(`first line ${'x'.repeat(300)}\nsecond line`),
      new Error(''),
      'text',
    ];
    const loop = new Loop({
      name: 'test',
      intervalMs: 3_600_000,
      logger: createLogger('silent'),
      run: async () => {
        if (errors.length > 0) throw errors.shift();
      },
    });
    const seen: (string | undefined)[] = [];
    for (let round = 0; round < 4; round += 1) {
      await loop.runOnce();
      seen.push(loop.health.lastError);
    }
    assert.equal(seen[0]?.length, 200);
    assert.match(seen[0] ?? '', /^first line x+$/);
    assert.deepEqual(seen.slice(1), ['Error', 'text', undefined]);
    const { failures, lastRunAtMs = 0, lastSuccessAtMs = 0, lastDurationMs = -1 } = loop.health;
    assert.equal(failures, 3);
    assert.ok(lastRunAtMs > 0 && lastSuccessAtMs >= lastRunAtMs && lastDurationMs >= 0);
  });
});
