import { fileTypeFromBuffer } from 'file-type';
import { mediaNameMaxCharacters } from './limits.ts';

/**
 * Derives the name of a file (specification section 2.8): the sender's name in characters that need no escape in a
 * path, with its type's extension.
 * @param wanted a name or the path of a URL; undefined or unusable becomes `media`
 */
export function mediaName(wanted: string | undefined, extension: string): string {
  const last = decodePercent((wanted ?? '').split(/[/\\]/).at(-1) ?? '');
  const stem = last
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, mediaNameMaxCharacters)
    .replaceAll(/^-+|-+$/g, '');
  return `${stem || 'media'}.${extension}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A media type with the extension of its files. */
export interface MediaType {
  readonly type: string;
  readonly extension: string;
}

/** The types that Messages shows (specification section 2.8), by the MIME type that `file-type` reports. */
const accepted: ReadonlyMap<string, MediaType> = new Map(
  (
    [
      ['image/jpeg', 'jpg'],
      ['image/png', 'png'],
      ['image/gif', 'gif'],
      ['image/heic', 'heic'],
      ['image/heic-sequence', 'heic'],
      ['image/heif', 'heif'],
      ['image/heif-sequence', 'heif'],
      ['image/webp', 'webp'],
      ['image/tiff', 'tiff'],
      ['image/bmp', 'bmp'],
      ['video/mp4', 'mp4'],
      ['video/quicktime', 'mov'],
      ['video/x-m4v', 'm4v'],
      ['video/3gpp', '3gp'],
      ['audio/mpeg', 'mp3'],
      ['audio/mp4', 'm4a'],
      ['audio/x-m4a', 'm4a'],
      ['audio/aac', 'aac'],
      ['audio/wav', 'wav'],
      ['audio/amr', 'amr'],
      ['audio/x-caf', 'caf'],
      ['audio/aiff', 'aiff'],
      ['application/pdf', 'pdf'],
      ['text/vcard', 'vcf'],
      ['text/calendar', 'ics'],
    ] as const
  ).map(([type, extension]) => [type, { type, extension }]),
);

/** An animated PNG counts as a PNG, because every program can show it as one. */
const aliases: ReadonlyMap<string, string> = new Map([['image/apng', 'image/png']]);

/** The first bytes of a TIFF file. `file-type` misses TIFF files whose directory is at their end. */
const tiffMarks = ['49492a00', '4d4d002a'];

/**
 * The first line of a vCard or an iCalendar file. `file-type` recognizes capitals only, but RFC 6350 (3.3) and RFC 5545
 * (2) allow any case.
 */
const contentLine = /^(?:\u00ef\u00bb\u00bf)?begin:(?<name>vcard|vcalendar)[ \t]*\r?\n/i;

/**
 * Detects the type of a file from its first bytes (specification section 2.8). File name and Content-Type do not count.
 * @param head the first chunk of the file
 * @returns undefined for a type that Messages does not show
 */
export async function sniffMediaType(head: Uint8Array): Promise<MediaType | undefined> {
  const found = await fileTypeFromBuffer(head);
  if (found) return accepted.get(aliases.get(found.mime) ?? found.mime);
  const name = contentLine.exec(Buffer.from(head.subarray(0, 64)).toString('latin1'))?.groups?.name;
  if (name) return accepted.get(name.toLowerCase() === 'vcard' ? 'text/vcard' : 'text/calendar');
  const mark = Buffer.from(head.subarray(0, 4)).toString('hex');
  return tiffMarks.includes(mark) ? accepted.get('image/tiff') : undefined;
}

/** False for contacts and calendar entries, because an iPhone would write them into the text, not send a file. */
export function isSendable(type: string): boolean {
  return type !== 'text/vcard' && type !== 'text/calendar';
}

/** The extensions of the files that an iPhone sends. */
export const sendableExtensions: readonly string[] = [
  ...new Set([...accepted.values()].filter(({ type }) => isSendable(type)).map(({ extension }) => extension)),
];

/** Whether a browser may show files of the type: images, videos and audio, which run no scripts. */
export function isShownInline(type: string): boolean {
  return /^(image|video|audio)\//.test(type);
}
