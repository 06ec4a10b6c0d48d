import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { optOutWords } from '#contract/opt-out-words.ts';
import {
  automationSets,
  automationsFor,
  computeCoverage,
  contains,
  coverageDocument,
  missedWords,
} from '#shortcut/inbound-coverage/coverage.ts';
import { type ReplyGroup, replies, repliesOf } from '#shortcut/inbound-coverage/replies.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

describe('replies of one word, and the automations that catch them (docs/iphone.md)', () => {
  it('the match of a text ignores case and diacritics, and nothing else', () => {
    for (const [content, text] of [
      ['YES', 'e'],
      ['Sí', 'i'],
      ['Não', 'a'],
      ['Ё', 'е'],
      ['May', 'Y'],
      ['two words', ' '],
      ['İptal', 'i'],
    ] as const)
      assert.ok(contains(content, text), `${content} contains ${text}`);
    for (const [content, text] of [
      ['Hmm', 'e'],
      ['Да', 'a'],
      ['Ø', 'o'],
      ['Hayır', 'i'],
      ['👍', 'o'],
      ['ok', ' '],
    ] as const)
      assert.ok(!contains(content, text), `${content} does not contain ${text}`);
  });

  it('automationsFor names the automations that fire for a text', () => {
    assert.deepEqual(automationsFor('Yes', 'full'), ['e', 'y']);
    assert.deepEqual(automationsFor('👍', 'full and digits'), []);
    assert.deepEqual(automationsFor('14:00', 'full and digits'), ['0', '1', '4']);
  });

  it('the list has ten languages with equally many one-word replies, some 500 in all, without repeats', () => {
    const groups = Object.keys(replies) as ReplyGroup[];
    const counts = groups.map((group) => repliesOf(group).length);
    assert.equal(new Set(counts.slice(0, 10)).size, 1);
    assert.ok(counts.reduce((sum, count) => sum + count) >= 500);
    for (const group of groups) {
      const words = repliesOf(group);
      assert.equal(new Set(words).size, words.length, group);
      assert.ok(words.every((word) => word !== '' && !/\s/.test(word)));
    }
  });

  it('each set of automations contains the one before it, and catches at least as many replies', () => {
    const sets = Object.values(automationSets) as (readonly string[])[];
    for (const [index, set] of sets.slice(1).entries())
      assert.ok(sets[index]?.every((text) => set.includes(text)));
    for (const { percent } of computeCoverage()) {
      const shares = Object.values(percent);
      assert.deepEqual(
        shares,
        shares.toSorted((one, other) => one - other),
      );
    }
  });

  it('the full set of automations catches every opt-out word', () => {
    const words = Object.values(optOutWords).flat();
    assert.deepEqual(missedWords(words, 'full'), []);
    assert.deepEqual(missedWords(words, 'needed'), ['DURDUR']);
  });

  it('the coverage tables of docs/iphone.md equal the computed tables', () => {
    const document = readFileSync(join(repository, 'docs/iphone.md'), 'utf8');
    assert.ok(
      document.includes(coverageDocument(optOutWords)),
      'docs/iphone.md is stale: put in what `node shortcut/inbound-coverage/print-coverage.ts` prints.',
    );
  });
});
