import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { optOutWords } from '#contract/opt-out-words.ts';
import { contains, coverageDocument, missedWords } from '#shortcut/inbound-coverage/coverage.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

describe('replies of one word, and the automations that catch them (docs/iphone.md)', () => {
  it('an automation matches a text without regard to case and diacritics, and ignores no other difference', () => {
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

  it('the full set of automations matches every opt-out word', () => {
    const words = Object.values(optOutWords).flat();
    assert.deepEqual(missedWords(words, 'full'), []);
    assert.deepEqual(missedWords(words, 'needed'), ['DURDUR']);
  });

  it('the coverage tables of docs/iphone.md are the computed ones', () => {
    const document = readFileSync(join(repository, 'docs/iphone.md'), 'utf8');
    assert.ok(
      document.includes(coverageDocument(optOutWords)),
      'docs/iphone.md is stale: put in what `node shortcut/inbound-coverage/print-coverage.ts` prints.',
    );
  });
});
