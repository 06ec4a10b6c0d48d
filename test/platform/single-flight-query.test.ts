import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { singleFlightQuery } from '#server/platform/concurrency/single-flight-query.ts';
import { Clock } from '#server/platform/time/clock.ts';

describe('the shared cached query', () => {
  it('the query runs once for simultaneous callers, and again once its result is too old', async () => {
    const clock = new Clock();
    let looks = 0;
    const gate = Promise.withResolvers<void>();
    const look = singleFlightQuery(clock, 60_000, async () => {
      looks += 1;
      await gate.promise;
      return looks;
    });
    const calls = [look(), look(), look()];
    // Callers still share the running query, although it takes longer than a result is kept.
    clock.advance(120_000);
    calls.push(look());
    gate.resolve();
    assert.deepEqual(await Promise.all(calls), [1, 1, 1, 1]);
    assert.equal(await look(), 1);
    clock.advance(60_000);
    assert.equal(await look(), 2);
  });

  it('callers share a failure of the query, too, for a time of its own', async () => {
    const clock = new Clock();
    let looks = 0;
    const query = async () => {
      looks += 1;
      if (looks === 1) throw new Error('away');
    };
    const look = singleFlightQuery(clock, 60_000, query, 5_000);
    await Promise.all([assert.rejects(look(), /away/), assert.rejects(look(), /away/)]);
    await assert.rejects(look(), /away/);
    assert.equal(looks, 1);
    clock.advance(5_000);
    await look();
    assert.equal(looks, 2);
  });
});
