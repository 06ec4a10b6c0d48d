import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inboundCoverageOf, inboundTests, inboundTestsOf } from '#server/devices/inbound-tests.ts';
import { automationSets, contains as isCaught } from '#shortcut/inbound-coverage/coverage.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

describe('inbound tests', () => {
  it('the inbound tests belong to the automation sets whose coverage is computed', () => {
    const contained = (sets: readonly string[]) =>
      inboundTests.filter(({ set }) => sets.includes(set)).map(({ contains }) => contains);
    assert.deepEqual(contained(['needed']), automationSets.needed);
    assert.deepEqual(contained(['needed', 'full']), automationSets.full);
  });

  for (const { name, contains, reply } of inboundTests)
    it(`“${reply}” is caught by the automation with ${name} and by no other`, () => {
      const catching = inboundTests.filter((test) => isCaught(reply, test.contains));
      assertEach(catching, (test) => test.contains, [contains]);
      assert.deepEqual(inboundTestsOf(reply), ['any', name]);
    });

  it('a text passes a test whatever its case, direction marks and final punctuation, and another text passes no test', () => {
    for (const text of ['seen', ' SEEN ', 'Seen!', 'seen.', '\u200eSeen', 'Ｓｅｅｎ'])
      assert.deepEqual(inboundTestsOf(text), ['any', 'e'], text);
    assert.deepEqual(inboundTestsOf('7\u00a0pm'), ['any', 'space']);
    for (const text of ['Seen it', 'See you', '', 'y'.repeat(100_000)])
      assert.deepEqual(inboundTestsOf(text), ['any']);
  });

  it('a text of a contact that only one automation catches passes its test', () => {
    for (const [text, name] of [
      ['Thx', undefined],
      ['Ok', 'o'],
      ['OK!!', 'o'],
      ['Sì', 'i'],
      ['Hmm, 7', 'space'],
      ['Bye', undefined],
      ['Can', undefined],
      ['Ок', undefined],
    ] as const)
      assert.deepEqual(inboundTestsOf(text), name === undefined ? ['any'] : ['any', name], text);
  });

  it('coverage becomes “words” by a text with a space that no other automation can have caught, and by no other text', () => {
    for (const [text, coverage] of [
      ['7 pm', 'words'],
      ['7\u00a0PM.', 'words'],
      ['Hmm, 7', 'words'],
      ['Thx, brb', 'words'],
      ['👍 👍', 'words'],
      ['Hello there', 'unknown'],
      ['See you', 'unknown'],
      ['At 12', 'unknown'],
      ['Да нет', 'unknown'],
      ['Thx, Ян', 'unknown'],
      ['ΟΚ ναι', 'unknown'],
      ['好 的', 'unknown'],
      ['Ok', 'unknown'],
      [' Pfft ', 'unknown'],
      ['', 'unknown'],
      ['b '.repeat(30), 'unknown'],
    ] as const)
      assert.equal(inboundCoverageOf(inboundTestsOf(text)), coverage, text);
  });

  it('coverage is “full” with all tests, and “words” with the test for texts of several words', () => {
    const names = inboundTests.flatMap(({ name, set }) => (set === 'answers' ? [] : [name]));
    assert.equal(inboundCoverageOf([]), 'unknown');
    assert.equal(inboundCoverageOf(['any', 'e', 'o', 'a', 'i', 'u', 'y']), 'unknown');
    assert.equal(inboundCoverageOf(['any', 'space']), 'words');
    assert.equal(inboundCoverageOf(names.slice(0, -1)), 'words');
    assert.equal(inboundCoverageOf(names), 'full');
  });
});
