import { searchMinCharacters } from '#contract/search.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { invalid } from '#server/platform/app-error.ts';
import { beginsIn, foldForSearch, isUnspaced, wordsOf } from '#server/platform/search-words.ts';

/** A message as a search reads it. */
export interface SearchedMessage {
  /** The beginning of the text. */
  readonly content: string;
  /** The handle of the other side. */
  readonly handle: string;
}

/** One way to be found: a message has all of it. */
interface Way {
  readonly words: readonly string[];
  /** Tests whether a word of the text begins like each of `words`. */
  readonly beginnings: readonly ((folded: string) => boolean)[];
  /** The last digits of the contact; "" for any contact. */
  readonly digits: string;
}

/** A message is found in one of these ways: by the words, or by words without digits and by the contact's last digits. */
export type Search = readonly Way[];

const unspacedMinCharacters = 2;

/** Digits of this number and more may be written with a trunk prefix 0, which a number in E.164 does not have. */
const nationalNumberMinDigits = 8;

/**
 * Reads what a search is for.
 * @throws AppError 400, param q, without a word that is long enough
 */
export function parseSearch(q: string): Search {
  const words = wordsOf(foldForSearch(q));
  const isNumber = (word: string) => /^\d+$/.test(word);
  const joined = words.filter(isNumber).join('');
  const digits = joined.length >= nationalNumberMinDigits ? joined.replace(/^0+/, '') : joined;
  const others = words.filter((word) => !isNumber(word));
  const byDigits = digits.length < searchMinCharacters ? [] : [wayOf(others, digits)];
  const search = [wayOf(words, ''), ...byDigits].filter((way) => tokensOfWay(way).length > 0);
  if (search.length > 0) return search;
  throw invalid(
    'q',
    `q must have a word or a number of at least ${searchMinCharacters} characters; in Chinese, Japanese, Korean and scripts without spaces ${unspacedMinCharacters}.`,
  );
}

function wayOf(words: readonly string[], digits: string): Way {
  return { words, beginnings: words.map(beginsIn), digits };
}

/** Whether a search finds a message, by the beginnings of words or by the digits of its contact. */
export function finds(search: Search, { content, handle }: SearchedMessage): boolean {
  const text = foldForSearch(content);
  return search.some(
    ({ beginnings, digits }) =>
      digitsOf(handle).endsWith(digits) && beginnings.every((begins) => begins(text)),
  );
}

/** Whether a search names the last digits of a contact. */
export function namesDigitsOf(search: Search, handle: string): boolean {
  return search.some(({ digits }) => digits !== '' && digitsOf(handle).endsWith(digits));
}

/** The digits of a phone number; "" for another handle. */
function digitsOf(handle: string): string {
  return /^\+?(\d+)$/.exec(contactOf(handle))?.[1] ?? '';
}

/** The digits from the last to the first, so that a search for the last ones is for a beginning. */
function digitsWord(digits: string): string {
  return `#${[...digits].reverse().join('')}`;
}

/** All words that begin in a message, and the digits of its contact. */
export function wordsOfMessage({ content, handle }: SearchedMessage): string[] {
  const words = wordsOf(foldForSearch(content)).flatMap((word) =>
    isUnspaced(word) ? Array.from({ length: word.length }, (_, index) => word.slice(index)) : [word],
  );
  return [...words, digitsWord(digitsOf(handle))];
}

/** The tokens that a message must have to be found in a way. */
export function tokensOfWay({ words, digits }: Way): number[] {
  return [...words, digitsWord(digits)].flatMap(tokensOf);
}

/** Lengths of the beginnings that are tokens. A search asks for all tokens of its words, so some lengths are enough. */
const wordLengths = new Set([searchMinCharacters, 4, 5, 6, 8, 12]);
const unspacedLengths = new Set([unspacedMinCharacters, 3, 5]);
/** With the `#`. */
const digitLengths = new Set([1 + searchMinCharacters, 5, 6, 8, 11]);

/** Tokens: hashes (FNV-1a) of the beginnings of a word. */
export function tokensOf(word: string): number[] {
  const lengths = word.startsWith('#') ? digitLengths : isUnspaced(word) ? unspacedLengths : wordLengths;
  const tokens: number[] = [];
  let hash = 0x811c9dc5;
  for (let length = 1; length <= Math.min(word.length, 12); length += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(length - 1), 0x01000193);
    if (lengths.has(length)) tokens.push(hash);
  }
  return tokens;
}
