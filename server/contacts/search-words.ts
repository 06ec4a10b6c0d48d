import { isE164 } from '#contract/phone-number.ts';

/**
 * The words of a text as they are compared: without accents, in lower case, at most 64 characters each. Contacts and
 * queries are folded alike. Other than foldForSearch, it takes syllables and vowel signs apart, because people type the
 * beginning of a name letter by letter.
 */
export function searchWords(text: string): string[] {
  const folded = text.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
  const plain = folded.replaceAll(/\p{M}/gu, '').replaceAll('ς', 'σ');
  return [...new Set(plain.match(/[\p{L}\p{N}\p{So}\p{Sk}]{1,64}/gu))];
}

/** The digits of a phone number from the last to the first, so that its last digits are a beginning. */
function digitsWord(digits: string): string {
  return `#${[...digits].reverse().join('')}`;
}

/** The words by which a contact is found: those of its name, and the digits of its phone numbers. */
export function wordsOfContact(name: string, handles: readonly string[]): string[] {
  const numbers = handles.filter(isE164).map((handle) => digitsWord(handle.slice(1)));
  return [...searchWords(name), ...numbers];
}

/**
 * The terms of a query, each with the beginnings of words that it fits. A number fits the last digits of a phone number,
 * also with the 0 or 00 that people dial before it.
 */
export function wordsOfQuery(query: string): string[][] {
  const isNumber = /^[\d\s+().\-/]+$/.test(query);
  const words = isNumber ? [query.replaceAll(/\D/g, '')] : searchWords(query);
  return words
    .filter((word) => word !== '' && !words.some((other) => other !== word && other.startsWith(word)))
    .map((word) => (/^\d+$/.test(word) ? [word, digitsWord(word.replace(/^0+(?=\d{6})/, ''))] : [word]));
}
