import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { excerptOf } from '../../web/conversations/excerpt.ts';

/** The text of an excerpt, with the words that were found in brackets. */
const shown = (text: string, q: string) =>
  excerptOf(text, q)
    .map((part) => (part.isFound ? `[${part.text}]` : part.text))
    .join('');

describe('the text around the words that a search finds', () => {
  const cases: readonly (readonly [text: string, q: string, excerpt: string])[] = [
    ['Can you send me the invoice again?', 'invo', 'Can you send me the [invo]ice again?'],
    ['Can you send me the invoice again?', 'INVOICE send', 'Can you [send] me the [invoice] again?'],
    ['The voice of an invoice', 'voice', 'The [voice] of an invoice'],
    ['Die Bürotür', 'buro', 'Die [Büro]tür'],
    ['Die Bu\u0308rotu\u0308r', 'büro', 'Die [Bu\u0308ro]tu\u0308r'],
    ['Nothing of that', '0137', 'Nothing of that'],
    ['', 'invoice', ''],
    ['👍 yes', 'yes', '👍 [yes]'],
  ];
  for (const [text, q, excerpt] of cases) {
    it(`“${q}” in “${text}”`, () => assert.equal(shown(text, q), excerpt));
  }

  it('a long text is cut at a word before the first word that was found, and after 140 characters', () => {
    const text = `${'before '.repeat(40)}invoice${' after'.repeat(40)}`;
    const excerpt = shown(text, 'invoice');
    assert.match(excerpt, /^…before before before (?:before )?\[invoice\] after/);
    assert.equal(excerpt.replaceAll(/[…[\]]/g, '').length, 140);
  });
});
