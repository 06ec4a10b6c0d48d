/** A letter of a script that is written without spaces, or in syllables: a word may begin at each of them. */
const unspacedLetter =
  '[[\\p{L}\\p{M}]&&[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]]';
const letter = `[[\\p{L}\\p{M}\\p{N}]--${unspacedLetter}]`;

const words = new RegExp(`${unspacedLetter}+|${letter}+`, 'gv');
const unspaced = new RegExp(`^${unspacedLetter}`, 'v');
/** Most texts and words are of ASCII, for which shorter patterns give the same results. */
const ascii = /^[ -~\s]*$/;
const asciiWords = /[a-z0-9]+/g;

/**
 * Folds a text for a search: letters without accents, in lower case, with ss for ß. Syllables of Korean and Japanese
 * stay whole.
 */
export function foldForSearch(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}

/** The words of a folded text. Letters of a script without spaces are one word up to the next other sign. */
export function wordsOf(folded: string): string[] {
  return folded.match(ascii.test(folded) ? asciiWords : words) ?? [];
}

/** Whether a word is of a script that is written without spaces, or in syllables. */
export function isUnspaced(word: string): boolean {
  return !ascii.test(word) && unspaced.test(word);
}

/** Makes the test whether a word of a folded text begins with these letters. */
export function beginsIn(word: string): (folded: string) => boolean {
  if (isUnspaced(word)) return (folded) => folded.includes(word);
  const beginning = new RegExp(`(?<!${letter})${word}`, 'v');
  return (folded) => folded.includes(word) && beginning.test(folded);
}
