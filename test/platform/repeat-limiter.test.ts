import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RepeatLimiter } from '#server/platform/concurrency/repeat-limiter.ts';
import { until } from '#test/support/service/until.ts';

describe('the limiter of equal log lines (specification section 10.4)', () => {
  it('in each period the limiter passes the first log line of a kind, and counts the others', async () => {
    const sums: string[] = [];
    const limit = new RepeatLimiter<number>({
      max: 2,
      windowMs: 50,
      kindsMax: 3,
      summarize: (latest, repeats) => void sums.push(`${repeats} up to ${latest}`),
    });
    const passed = (name: string, numbers: readonly number[]) => numbers.filter((n) => limit.pass(name, n));
    assert.deepEqual(passed('one', [1, 2, 3, 4]), [1, 2]);
    assert.deepEqual(passed('two', [5]), [5]);
    assert.deepEqual(passed('three', [6]), [6]);
    assert.deepEqual([...passed('four', [7]), ...passed('five', [8, 9])], [7, 8], 'one kind together');
    assert.deepEqual(sums, [], 'within one turn of the event loop no window ends');
    // The timer of a window does not keep the process alive, so the test waits for it.
    await until('the window ends', () => sums.length > 0);
    assert.deepEqual(sums, ['2 up to 4', '1 up to 9']);
    assert.deepEqual(passed('one', [10, 11, 12]), [10, 11], 'a new window');
    await until('that window ends', () => sums.length > 2);
    assert.deepEqual(sums.slice(2), ['1 up to 12']);
  });
});
