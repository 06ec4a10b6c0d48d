import { unreadable } from '#server/platform/app-error.ts';
import { importLineMaxCharacters } from './limits.ts';
import { searchWords } from './search-words.ts';

/** A person of a file with handles as they are written there, or why a line of the file can't be read. */
export type FilePerson =
  | {
      readonly line: number;
      readonly name: string;
      readonly handles: readonly string[];
      readonly note: string;
    }
  | { readonly line: number; readonly reason: string };

type Field = 'given' | 'middle' | 'family' | 'full' | 'company' | 'handle' | 'note';

/**
 * The headers of columns in lower case, without accents and punctuation: those of Google, Outlook, Apple and Thunderbird,
 * in English, German and Spanish. The first entry that fits counts.
 */
const headers: readonly (readonly [RegExp, Field | undefined])[] = [
  [/\b(label|type|typ|tipo|fax|pager|telex|display|anzeigename|phonetic|yomi)\b|company main/, undefined],
  [
    /\be ?mail\b|\bmail\b|\bcorreo\b|phone|mobile?|handy|cell|celular|movil|\btel|whatsapp|^n(umber|ummer|umero)$/,
    'handle',
  ],
  [/^(first|given)( name)?$|^vorname$|^nombre$/, 'given'],
  [/^(middle|additional) name$|^weitere vornamen$|^segundo nombre$/, 'middle'],
  [/^(last|family|sur) ?name$|^(nach|familien)name$|^apellidos?$/, 'family'],
  [/^(full )?name$|^nombre (completo|y apellidos)$|^(contact|kontakt|contacto)( name)?$/, 'full'],
  [/^(company|organi[sz]ation)( 1)?( name)?$|^(firma|unternehmen|empresa|organizacion)$/, 'company'],
  [/^(notes?|notiz(en)?|bemerkung(en)?|notas?|comments?)$/, 'note'],
];

function fieldOf(header: string): Field | undefined {
  const folded = searchWords(header).join(' ');
  return headers.find(([pattern]) => pattern.test(folded))?.[1];
}

/** Reads the people of a file with comma-separated values. @throws AppError 400 unless its first line names columns */
export function* readCsv(text: string): Generator<FilePerson> {
  const records = readRecords(text);
  const fields = records.next().value?.cells?.map(fieldOf) ?? [];
  if (!fields.includes('handle')) {
    throw unreadable(
      'The first line of the file must name the columns, such as name, phone, email and note, with commas or semicolons between them.',
    );
  }
  for (const { line, cells } of records) {
    const filled = cells?.flatMap((cell, index) => {
      const value = cell.trim();
      return value === '' ? [] : [{ field: fields[index], value }];
    });
    if (filled?.length === 0) continue;
    yield filled
      ? { line, ...personOf(filled) }
      : { line, reason: 'The line has more than 8 KB, or a quote in it does not end.' };
  }
}

function personOf(cells: readonly { readonly field: Field | undefined; readonly value: string }[]) {
  const named = (field: Field) => cells.filter((cell) => cell.field === field).map(({ value }) => value);
  const parts = [...named('given'), ...named('middle'), ...named('family')].join(' ');
  const name = named('full')[0] ?? (parts || (named('company')[0] ?? ''));
  // Google writes several values of a kind into one cell.
  const handles = named('handle').flatMap((cell) => cell.split(/\s*(?::::|[;,\n])\s*/));
  return { name, handles, note: named('note').join('\n') };
}

interface CsvRecord {
  readonly line: number;
  readonly cells?: readonly string[];
}

/** Reads the records of a file. One without `cells` is too long, or malformed: the next begins on the next line. */
function* readRecords(text: string): Generator<CsvRecord, undefined> {
  const first = text.slice(0, importLineMaxCharacters).split(/[\r\n]/, 1)[0] ?? '';
  const [separator = ','] = [',', ';', '\t'].toSorted(
    (a, b) => first.split(b).length - first.split(a).length,
  );
  const cell = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|(?!")([^${separator}\\r\\n]*))(${separator}|\\r\\n?|\\n|$)`,
    'y',
  );
  let line = 1;
  for (let start = 0; start < text.length; ) {
    const record = text.slice(start, start + importLineMaxCharacters);
    const cells = readCells(record, cell, separator);
    const isCut = cell.lastIndex === record.length && start + record.length < text.length;
    yield cells && !isCut ? { line, cells } : { line };
    const length = cells && !isCut ? cell.lastIndex : restOfLine(text, start);
    line += text.slice(start, start + length).match(/\r\n?|\n/g)?.length ?? 0;
    start += length;
  }
}

/** Reads the cells of a record, at whose end `cell` stops. @returns undefined for a malformed record */
function readCells(record: string, cell: RegExp, separator: string): string[] | undefined {
  const cells: string[] = [];
  cell.lastIndex = 0;
  for (;;) {
    const found = cell.exec(record);
    if (!found) return undefined;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] !== separator) return cells;
  }
}

/** The length of a line with its end. */
function restOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return (end < 0 ? text.length : end + 1) - start;
}
