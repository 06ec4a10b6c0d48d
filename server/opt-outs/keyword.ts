import { optInWords, optOutWords } from '#contract/opt-out-words.ts';

/** Upper bound on a text that is compared with the keywords, in UTF-16 code units; a longer text is no keyword. */
const keywordTextMaxCharacters = 1_000;

/** Keyword: an inbound text that, as a whole, opts its sender out or in. */
export type Keyword = 'opt_out' | 'opt_in';

/** Punctuation, and symbols used as punctuation: < and >, and the emoji of ! and ?. */
const punctuation = /[\p{P}<>\u2753-\u2755\u2757]/gu;

/** Invisible characters: direction marks, joiners, variation selectors and other format characters. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...Object.values(optOutWords)
    .flat()
    .flatMap((word) => spellings(word).map((text) => [text, 'opt_out'] as const)),
  ...optInWords.map((word) => [fold(word), 'opt_in'] as const),
]);

/**
 * Finds the keyword that an inbound text consists of (specification section 4.6). Case, punctuation, invisible
 * characters and surrounding white space are ignored.
 * @returns undefined for any other text
 */
export function findKeyword(text: string): Keyword | undefined {
  return text.length > keywordTextMaxCharacters ? undefined : keywords.get(fold(text));
}

/** A keyword of several words may be written as one word (OPTOUT) or with hyphens. */
function spellings(word: string): string[] {
  return [fold(word), fold(word.replaceAll(' ', ''))];
}

/**
 * Folds a text for comparison. Invisible characters are removed first, because one may separate a letter from its
 * accent. NFKC, upper-casing and lower-casing follow, which make ß equal to ss, and ı to i. The dot that İ leaves is
 * removed.
 */
function fold(text: string): string {
  return text
    .replaceAll(invisible, '')
    .normalize('NFKC')
    .replaceAll(punctuation, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('i\u0307', 'i')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
