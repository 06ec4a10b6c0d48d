/** A part of a text; `href` is set if it is a URL. */
export interface TextPart {
  readonly text: string;
  readonly href?: string;
}

/** Matches http and https URLs. Spaces, quotes and invisible direction marks end a URL: a link opens what is shown. */
const address = /\bhttps?:\/\/[^\s<>"'`\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/giu;
const closing: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Splits a text at its URLs. Punctuation after a URL belongs to the text. */
export function splitLinks(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    const href = withoutPunctuation(found);
    if (!URL.canParse(href)) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ text: href, href });
    end = index + href.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

function withoutPunctuation(found: string): string {
  const last = found.at(-1) ?? '';
  const opening = closing[last];
  const isOpened = opening !== undefined && found.split(opening).length >= found.split(last).length;
  const isPunctuation = /[.,:;!?…*_~]/u.test(last) || (opening !== undefined && !isOpened);
  return isPunctuation ? withoutPunctuation(found.slice(0, -1)) : found;
}
