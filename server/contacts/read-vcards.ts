import { unreadable } from '#server/platform/app-error.ts';
import { importLineMaxCharacters } from './limits.ts';
import type { FilePerson } from './read-csv.ts';

/** A line of a card: its name without a group, its parameters, and its value. */
const property = /^(?:[\w-]+\.)?([a-z-]+)((?:;[^":;]*(?:"[^"]*"[^":;]*)*)*):([\s\S]*)$/i;

/** A line whose text is quoted-printable, as Android writes it in version 2.1: its lines end with `=` to go on. */
const quotedPrintable = /^[^:]*;ENCODING=QUOTED-PRINTABLE[;:]/i;

/** Reads the people of a file of vCards. Photos are skipped. @throws AppError 400 for a file without cards */
export function* readVCards(text: string): Generator<FilePerson> {
  const lines = text.split(/\r\n?|\n/);
  let card: Card | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const begin = at;
    let line = lines[at] ?? '';
    const isQuoted = quotedPrintable.test(line);
    const goesOn = () => (isQuoted ? lines[at]?.endsWith('=') : /^[ \t]/.test(lines[at + 1] ?? ''));
    // A line that is too long already gets no longer: joining many parts would take minutes.
    for (; goesOn() && at + 1 < lines.length; at += 1)
      if (line.length <= importLineMaxCharacters)
        line = isQuoted ? line.slice(0, -1) + lines[at + 1] : line + lines[at + 1]?.slice(1);
    const [, name = '', parameters = '', value = ''] =
      property.exec(line.slice(0, importLineMaxCharacters)) ?? [];
    const key = name.toUpperCase();
    if (key === 'BEGIN') card = new Card(begin + 1);
    else if (key === 'END' && card) yield card.person();
    else
      card?.add(key, parameters, isQuoted ? unquoted(value) : value, line.length > importLineMaxCharacters);
  }
  if (!card) throw unreadable('The file has no vCard: it must have a line BEGIN:VCARD for each person.');
}

class Card {
  readonly #line: number;
  readonly #handles: string[] = [];
  readonly #texts = new Map<string, string>();
  #reason: string | undefined;

  constructor(line: number) {
    this.#line = line;
  }

  add(name: string, parameters: string, value: string, isTooLong: boolean): void {
    if (!['FN', 'N', 'ORG', 'NOTE', 'TEL', 'EMAIL'].includes(name)) return;
    if (isTooLong) this.#reason = `The line ${name} has more than 8 KB.`;
    if (name !== 'TEL' && name !== 'EMAIL') this.#texts.set(name, value);
    else if (!/\b(fax|pager)\b/i.test(parameters))
      this.#handles.push(unescaped(value).replace(/^tel:([^;]*).*/i, '$1'));
  }

  person(): FilePerson {
    const line = this.#line;
    if (this.#reason !== undefined) return { line, reason: this.#reason };
    const parts = (name: string) => (this.#texts.get(name) ?? '').split(/(?<!\\);/).map(unescaped);
    const [family = '', given = '', middle = ''] = parts('N');
    const structured = [given, middle, family].filter((part) => part !== '').join(' ');
    const name = unescaped(this.#texts.get('FN') ?? '') || structured || (parts('ORG')[0] ?? '');
    return { line, name, handles: this.#handles, note: unescaped(this.#texts.get('NOTE') ?? '') };
  }
}

function unquoted(value: string): string {
  const bytes = value.replaceAll(/=([\dA-F]{2})/gi, (_code, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

function unescaped(value: string): string {
  return value
    .replaceAll(/\\([\s\S])/g, (_escape, character: string) => (/n/i.test(character) ? '\n' : character))
    .trim();
}
