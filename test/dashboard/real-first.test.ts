import assert from 'node:assert/strict';
import { it } from 'node:test';
import { realFirst } from '../../web/numbers/real-first.ts';

it('real numbers are before simulated ones, and keep their order', () => {
  const numbers = [{ id: 'a', simulated: true } as const, { id: 'b' }, { id: 'c' }];
  assert.deepEqual(
    realFirst(numbers).map(({ id }) => id),
    ['b', 'c', 'a'],
  );
});
