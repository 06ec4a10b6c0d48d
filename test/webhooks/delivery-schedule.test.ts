import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextDeliveryAttemptAt } from '#server/webhooks/dispatch/delivery-schedule.ts';

const offsetsMs = [0, 10_000, 60_000, 300_000];

describe('the start of attempts (specification section 6.3)', () => {
  /** Columns: the number of an attempt, its start and the start of the next one, in ms after the start of the first. */
  const table: readonly (readonly [number, number, number | undefined])[] = [
    [1, 0, 10_000],
    [2, 10_000, 60_000],
    [3, 60_000, 300_000],
    [4, 300_000, undefined],
    // A late attempt delays the next ones, because the gaps between the offsets are kept.
    [2, 10_001, 60_001],
    [2, 500_000, 550_000],
    [3, 550_000, 790_000],
    // The first attempt is made again, because its process died.
    [1, 30_000, 40_000],
  ];

  for (const [attempt, startedMs, dueMs] of table) {
    it(`after attempt ${attempt} at ${startedMs} ms, the next attempt is due at this ms: ${dueMs ?? 'never'} (§6.3/retry-offsets)`, () => {
      const first = new Date(1_000_000);
      const next = nextDeliveryAttemptAt(offsetsMs, {
        attempt,
        firstStartedAt: first,
        startedAt: new Date(first.getTime() + startedMs),
      });
      assert.equal(next && next.getTime() - first.getTime(), dueMs);
    });
  }
});
