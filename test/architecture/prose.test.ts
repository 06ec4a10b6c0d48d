import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  commentSentences,
  countWords,
  documentSentences,
  partsOf,
  type Sentence,
  testTitles,
} from '#test/support/architecture/prose.ts';

/** A sentence begins with its subject: `The draft of a conversation`, not `What is written in a conversation`. */
const withoutSubject = /^["“(]?(?:What|Who|Whom|Whose|Whoever|Whatever|Of)\b/;
/** Words without a clear subject. A code name in backticks is allowed, such as the system's user `nobody`. */
const ruledOut =
  /(?<!`)\b(?:(?:any|every|no|some)body|whoever|to whom|(?:is|are|was|were) told|(?:is|are|be) let in|doors?|knocks?)\b(?!`)/i;

const wordsMax = 25;

function offences(sentences: readonly Sentence[]): string[] {
  return sentences
    .filter(({ text }) => withoutSubject.test(text) || ruledOut.test(text))
    .map(({ path, line, text }) => `${path}:${line}: ${text}`);
}

describe('sentences have a subject, are short and use no pronoun for people (CONTRIBUTING.md, How it is written)', () => {
  it('comments follow the rules of prose', () => {
    const sentences = commentSentences();
    assert.ok(sentences.length > 4_000);
    assert.deepEqual(offences(sentences), []);
    const long = sentences.filter(({ text }) => partsOf(text).some((part) => countWords(part) > wordsMax));
    assert.deepEqual(
      long.map(({ path, line, text }) => `${path}:${line}: ${text}`),
      [],
      `more than ${wordsMax} words in a sentence`,
    );
  });

  it('documents follow the rules of prose', () => {
    const sentences = documentSentences();
    assert.ok(sentences.length > 2_000);
    assert.deepEqual(offences(sentences), []);
  });

  it('test titles follow the rules of prose', () => {
    const titles = testTitles();
    assert.ok(titles.length > 1_000);
    assert.deepEqual(offences(titles), []);
  });
});
