import { invalid } from './app-error.ts';

/** Control characters, line separators, and marks that change the text direction. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Refuses names with hidden characters. Lists, mails and logs show a name beside other text, so it must be one line
 * that reads as it was written.
 * @throws AppError 400 with the field
 */
export function refuseHiddenCharacters(field: string, text: string): void {
  const found = text.match(hidden)?.[0].codePointAt(0);
  if (found === undefined) return;
  const shown = found.toString(16).toUpperCase().padStart(4, '0');
  throw invalid(
    field,
    `${field} must be one line without control characters and direction marks; it has U+${shown}. Leave that character out.`,
  );
}

/** Removes hidden characters from a name that a device sent, because such a name is never refused. */
export function removeHiddenCharacters(text: string): string {
  return text.replaceAll(hidden, '');
}
