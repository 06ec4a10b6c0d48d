import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loginWindowMs } from '#server/accounts/limits.ts';
import { givenPasswords, password } from '#test/support/people/given-passwords.ts';
import { storedThrottleCounters } from '#test/support/people/stored-accounts.ts';

describe('many simultaneous password checks (specification section 12.2)', () => {
  const { service, attempt } = givenPasswords();

  it('a password check beyond the capacity is answered 503, and does not count as an attempt', async () => {
    // All attempts have to be within one throttle window, because each window counts separately.
    service.clock.advance(loginWindowMs - (service.clock.nowMs() % loginWindowMs));
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => attempt(`somebody-${n}@example.com`, 'a wrong password')),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    assert.ok(count(503) > 0 && count(401) >= 102, `${count(503)} of 200 were over capacity`);
    assert.equal(count(401) + count(503), 200);
    const busy = answers.find(({ status }) => status === 503);
    assert.equal(busy?.headers.get('retry-after'), '2');
    const counters = await storedThrottleCounters(service, service.clock.in(-loginWindowMs));
    const counted = counters.reduce((sum, { hits }) => sum + hits, 0);
    assert.equal(counted, 3 * count(401));
    assert.equal((await attempt('ada@example.com', password)).status, 303, 'it goes on');
  });
});
