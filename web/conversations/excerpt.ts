/** A part of a text, and whether a search found it. */
export interface ExcerptPart {
  readonly text: string;
  readonly isFound: boolean;
}

/** Characters before the first word that was found, and characters altogether. */
const beforeMax = 30;
const lengthMax = 140;

/** Removes case and accents, as the search does. */
const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

const wordsIn = (text: string) => [...text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)];

/** Cuts a text around the first word that a search found, and marks all beginnings of words that it found. */
export function excerptOf(text: string, q: string): readonly ExcerptPart[] {
  const wanted = wordsIn(q).map(([word]) => fold(word));
  const found = wordsIn(text).flatMap(({ 0: word, index }) => {
    const beginning = wanted.find((one) => fold(word).startsWith(one));
    return beginning === undefined ? [] : [{ start: index, end: index + lengthOf(word, beginning) }];
  });
  const from = startNear(text, (found[0]?.start ?? 0) - beforeMax);
  const to = from + lengthMax;
  const parts: ExcerptPart[] = [];
  let end = from;
  for (const one of found.filter((one) => one.end <= to)) {
    parts.push({ text: text.slice(end, one.start), isFound: false });
    parts.push({ text: text.slice(one.start, one.end), isFound: true });
    end = one.end;
  }
  parts.push({ text: text.slice(end, to), isFound: false });
  const cut = from > 0 ? [{ text: '…', isFound: false }, ...parts] : parts;
  return cut.filter((part) => part.text !== '');
}

/** The length of a word's beginning whose folded form is given, with its accents. */
function lengthOf(word: string, beginning: string): number {
  let length = 0;
  for (const character of word) {
    if (fold(word.slice(0, length)).length >= beginning.length && !/\p{M}/u.test(character)) break;
    length += character.length;
  }
  return length;
}

/** The next beginning of a word; 0 near the beginning of the text. */
function startNear(text: string, index: number): number {
  if (index <= 0) return 0;
  const space = text.slice(index).search(/\s/);
  return space < 0 || space > beforeMax ? index : index + space + 1;
}
