import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { optInWords, optOutWords } from '#contract/opt-out-words.ts';
import { findKeyword } from '#server/opt-outs/keyword.ts';
import { anyText } from '#test/support/generators/generated-texts.ts';

/** FUZZ_SEED and the path that fast-check prints repeat a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

const optingOut = Object.values(optOutWords).flat();

const cases: readonly (readonly [text: string, keyword: 'opt_out' | 'opt_in' | undefined, why: string])[] = [
  ['STOP', 'opt_out', 'the word itself'],
  ['stop', 'opt_out', 'lower case'],
  ['Stop.', 'opt_out', 'a full stop'],
  ['STOP!', 'opt_out', 'an exclamation mark'],
  ['Stop!!!', 'opt_out', 'several exclamation marks'],
  ['STOP?', 'opt_out', 'a question mark'],
  ['STOP❗️', 'opt_out', 'the emoji of an exclamation mark, with its variation selector'],
  ['‼️STOP‼️', 'opt_out', 'punctuation with variation selectors'],
  ['ＳＴＯＰ', 'opt_out', 'full width'],
  ['ⓢⓣⓞⓟ', 'opt_out', 'letters in circles'],
  ['\u200eStop', 'opt_out', 'a direction mark'],
  ['\u202bStop\u202c', 'opt_out', 'embedded from right to left'],
  ['\u2068Stop\u2069', 'opt_out', 'a directional isolate'],
  ['Stop\ufe0f', 'opt_out', 'a variation selector'],
  ['\ufeffStop\u200b', 'opt_out', 'characters without width'],
  ['St\u00adop', 'opt_out', 'a soft hyphen'],
  ['“stop”', 'opt_out', 'quotation marks'],
  ['«stop»', 'opt_out', 'French quotation marks'],
  ['<STOP>', 'opt_out', 'as some instructions print it'],
  ['*stop*', 'opt_out', 'as some people stress it'],
  ['\t stop \n', 'opt_out', 'white space around it'],
  ['\u00a0stop\u3000', 'opt_out', 'other white space around it'],
  ['S.T.O.P.', 'opt_out', 'punctuation within'],
  ['stopall', 'opt_out', 'as one word'],
  ['stop  all', 'opt_out', 'as two words'],
  ['opt out', 'opt_out', 'as two words'],
  ['opt-out', 'opt_out', 'with a hyphen'],
  ['OPTOUT', 'opt_out', 'as one word'],
  ['opt\nout', 'opt_out', 'on two lines'],
  ['aufho\u0308ren', 'opt_out', 'a combining diaeresis'],
  ['Arrêt', 'opt_out', 'with its accent'],
  ['arret', 'opt_out', 'without its accent'],
  ['abonelikten çık', 'opt_out', 'Turkish in lower case'],
  ['ABONELİKTEN ÇIK', 'opt_out', 'a dotted capital'],
  ['ABONELIKTEN CIK', 'opt_out', 'Turkish on an English keyboard'],
  ['ﬆop', 'opt_out', 'a ligature'],
  ['\u017ftop', 'opt_out', 'a long s'],
  ['START', 'opt_in', 'the word itself'],
  ['start!', 'opt_in', 'with punctuation'],
  ['Unstop', 'opt_in', 'another word of the list'],
  ['Cancel', undefined, 'appointments use it'],
  ['CANCELAR', undefined, 'appointments use it in Spanish'],
  ['absagen', undefined, 'appointments use it in German'],
  ['fine', undefined, 'Italian for end, English for yes'],
  ['stop please', undefined, 'another word'],
  ["don't stop", undefined, 'the opposite'],
  ['please stop', undefined, 'another word before'],
  ['stop it', undefined, 'another word'],
  ['stop2', undefined, 'a digit'],
  ['stöp', undefined, 'another letter'],
  ['s t o p', undefined, 'letters apart'],
  ['stop 👍', undefined, 'a symbol'],
  ['unstop all', undefined, 'not a word of the list'],
  ['the end', undefined, 'another word'],
  ['ending', undefined, 'a longer word'],
  ['не', undefined, 'another script'],
  ['ѕtop', undefined, 'a Cyrillic letter that looks the same'],
  ['START ALL', undefined, 'not a word of the list'],
  ['opt in', undefined, 'not a word of the list'],
  ['', undefined, 'nothing'],
  ['...', undefined, 'punctuation alone'],
];

describe('keywords (specification section 4.6)', () => {
  for (const [text, keyword, why] of cases) {
    it(`${JSON.stringify(text)} is ${keyword ?? 'no keyword'}: ${why} (§4.6/keywords)`, () => {
      assert.equal(findKeyword(text), keyword);
    });
  }

  it('each listed word is a keyword in any case, and no word is in both lists (§4.6/keywords)', () => {
    for (const word of optingOut)
      for (const text of [word, word.toLowerCase(), word.toLocaleLowerCase('tr'), ` ${word}. `])
        assert.equal(findKeyword(text), 'opt_out', text);
    for (const word of optInWords) assert.equal(findKeyword(word), 'opt_in', word);
  });

  it('opt-out words exist in eleven languages, with at least four each', () => {
    assert.equal(Object.keys(optOutWords).length, 11);
    for (const [language, words] of Object.entries(optOutWords)) assert.ok(words.length >= 4, language);
  });

  it('a text of more than 1,000 characters is no keyword, and a megabyte takes less than 1 ms', () => {
    assert.equal(findKeyword(`STOP${' '.repeat(996)}`), 'opt_out');
    assert.equal(findKeyword(`STOP${' '.repeat(997)}`), undefined);
    const startMs = performance.now();
    for (let n = 0; n < 1_000; n += 1) findKeyword(' '.repeat(1_000_000));
    assert.ok(performance.now() - startMs < 1_000);
  });

  it('a text is no keyword if letters of the word were added, removed or replaced (§4.6/keywords)', () => {
    // Texts whose letters and digits differ from those of every listed word are no keywords.
    const letters = (text: string) =>
      text
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
        .normalize('NFKC')
        .replaceAll(/[^\p{L}\p{N}\p{S}\p{M}]|[<>❓❔❕❗]/gu, '')
        .toUpperCase()
        .toLowerCase();
    const known = new Set([...optingOut, ...optInWords].map(letters).map(dotless));
    const word = fc.constantFrom(...optingOut, ...optInWords);
    const character = anyText({ minLength: 1, maxLength: 1 });
    const place = fc.nat(20);
    const text = fc.oneof(
      fc.tuple(word, place, character).map(([one, at, more]) => one.slice(0, at) + more + one.slice(at)),
      fc.tuple(word, place).map(([one, at]) => one.slice(0, at) + one.slice(at + 1)),
      fc
        .tuple(word, place, character)
        .map(([one, at, other]) => one.slice(0, at) + other + one.slice(at + 1)),
      fc.tuple(word, word).map((words) => words.join(' ')),
      fc.tuple(word, fc.lorem({ maxCount: 3 })).map((words) => words.join(' ')),
      fc.tuple(fc.lorem({ maxCount: 3 }), word).map((words) => words.join(' ')),
      anyText({ maxLength: 12 }),
      fc.lorem({ maxCount: 2 }),
    );
    let keywords = 0;
    fc.assert(
      fc.property(text, (one) => {
        const keyword = findKeyword(one);
        if (keyword !== undefined) keywords += 1;
        if (!known.has(dotless(letters(one)))) assert.equal(keyword, undefined, JSON.stringify(one));
      }),
      { seed, numRuns: 5_000 },
    );
    assert.ok(keywords > 50, 'the generator reaches keywords, too');
  });
});

function dotless(text: string): string {
  return text.replaceAll('\u0307', '');
}
