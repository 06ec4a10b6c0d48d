import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { given, givenEach, givenFolder } from '#test/support/service/given.ts';

describe('things given to a suite (docs/testing.md)', () => {
  const events: string[] = [];
  let folder = '';

  describe('in a suite', () => {
    folder = givenFolder();
    const first = given(() => ({ name: 'first', close: () => events.push('first closed') }));
    const second = given(
      () => ({ name: `${first.name}, second` }),
      () => events.push(`second closed, ${existsSync(folder)}`),
    );
    const third = given(() => new Map([['name', 'third']]));
    const each = givenEach(
      () => ({ number: events.push('made for a test') }),
      () => events.push('closed after a test'),
    );
    assert.throws(() => first.name, /once the suite runs/);

    it('given() makes things in the order of the calls, and its stand-ins are read like the things themselves', () => {
      assert.equal(second.name, 'first, second');
      assert.deepEqual({ ...second }, { name: 'first, second' });
      assert.ok(third instanceof Map);
      assert.equal(third.get('name'), 'third');
      assert.ok(existsSync(folder));
      assert.equal(each.number, 1);
    });

    it('givenEach() makes a new thing for each test', () => assert.equal(each.number, 3));
  });

  it('after a suite its things are closed, the last made first', () => {
    const ofTests = ['made for a test', 'closed after a test'];
    assert.deepEqual(events, [...ofTests, ...ofTests, 'second closed, true', 'first closed']);
    assert.ok(!existsSync(folder));
  });
});
