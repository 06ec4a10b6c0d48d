import { endOfString } from '#server/http/read-json-body.ts';
import { type DeviceBody, optionalField, parseDeviceBody } from './device-body.ts';
import { mediaPieceBytes, textBodyMaxBytes } from './limits.ts';

/** The body of an inbound message. `file`: the bytes of a large JSON string with base64, cut out of the body. */
export interface InboundBody {
  readonly fields: DeviceBody;
  readonly file: Buffer | undefined;
}

/**
 * Parses the body of an inbound message. The field `media` of a large body is cut out before the parser sees it. Parsing
 * 7 MB would block the event loop for a tenth of a second. `decodeFile` reads the field in pieces.
 * @returns `too_large` for a body of more than 1 MiB beside the field `media`; undefined for an unreadable one
 */
export function parseInboundBody(raw: unknown): InboundBody | 'too_large' | undefined {
  const file = Buffer.isBuffer(raw) && raw.length > mediaPieceBytes ? findFile(raw) : undefined;
  if (Buffer.isBuffer(raw) && raw.length - (file?.length ?? 0) > textBodyMaxBytes) return 'too_large';
  if (file && !isInsideOfString(file)) return undefined;
  const fields = parseDeviceBody(file && Buffer.isBuffer(raw) ? withoutPart(raw, file) : raw);
  return fields && { fields, file };
}

/**
 * Finds the value that JSON.parse would return as the field `media`, without its quotes: the last one at depth 1.
 * @returns a part of `raw`; undefined if the value is no string, or the name is written with escapes
 */
function findFile(raw: Buffer): Buffer | undefined {
  let file: Buffer | undefined;
  let depth = 0;
  let isMedia = false;
  for (let index = 0; index < raw.length; index += 1) {
    const byte = raw[index];
    if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === comma && depth === 1) isMedia = false;
    else if (byte === quote) {
      const start = index + 1;
      index = endOfString(raw, start);
      if (depth !== 1) continue;
      if (isMedia) file = raw.subarray(start, index);
      else if (isName(raw, index + 1)) {
        const name = raw.toString('latin1', start, Math.min(index, start + nameBytesMax + 1));
        isMedia = name === 'media';
        if (isMedia || (name.includes('\\') && readText(name) === 'media')) file = undefined;
      }
    }
  }
  return file;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
/** Bytes of the name `media` at most, with each character escaped. */
const nameBytesMax = 30;

/** True if a colon follows the string that ends before `end`. */
function isName(raw: Buffer, end: number): boolean {
  let index = end;
  while (raw[index] === 0x20 || raw[index] === 0x0a || raw[index] === 0x0d || raw[index] === 0x09) index += 1;
  return raw[index] === 0x3a;
}

const escapable = Buffer.from('"\\/bfnrtu');

/** True for the inside of a JSON string: no control character, and no unknown escape. */
function isInsideOfString(bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < 0x20) return false;
    if (byte !== backslash) continue;
    index += 1;
    if (!escapable.includes(bytes[index] ?? 0)) return false;
    if (bytes[index] === 0x75 && !/^[\da-f]{4}$/i.test(bytes.toString('latin1', index + 1, index + 5)))
      return false;
  }
  return true;
}

function withoutPart(raw: Buffer, part: Buffer): Buffer {
  const start = part.byteOffset - raw.byteOffset;
  return Buffer.concat([raw.subarray(0, start), raw.subarray(start + part.length)]);
}

/**
 * Decodes the base64 in a JSON string, and ignores its line breaks. The event loop runs between the pieces.
 * @returns undefined if it is no base64
 */
export async function decodeFile(file: Buffer): Promise<Buffer | undefined> {
  const decoded: Buffer[] = [];
  let rest = '';
  for (let start = 0; start < file.length; ) {
    const end = endOfPiece(file, start);
    const text = readText(file.toString('latin1', start, end));
    // Padding ends the text, so nothing may follow it.
    if (text === undefined || (rest.endsWith('=') && text !== '')) return undefined;
    const whole = rest + text;
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(whole)) return undefined;
    const length = whole.endsWith('=') ? 0 : whole.length - (whole.length % 4);
    decoded.push(Buffer.from(whole.slice(0, length), 'base64'));
    rest = whole.slice(length);
    start = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat([...decoded, Buffer.from(rest, 'base64')]);
}

/** Pieces end before an escape sequence, of which the longest has six characters. */
function endOfPiece(file: Buffer, start: number): number {
  const end = Math.min(start + mediaPieceBytes, file.length);
  const cut = end === file.length ? -1 : file.lastIndexOf(backslash, end - 1);
  return cut !== -1 && cut > end - 6 ? cut : end;
}

function readText(escaped: string): string | undefined {
  try {
    return String(JSON.parse(`"${escaped}"`)).replaceAll(/\s+/g, '');
  } catch {
    return undefined;
  }
}

/**
 * Decodes the base64 file of an inbound message (specification section 11.5), ignoring line breaks. Its type is
 * detected from its bytes; `media_type` is ignored.
 * @returns undefined without a file; `unreadable` if it is no base64
 */
export async function readMedia({
  fields,
  file,
}: InboundBody): Promise<
  { readonly bytes: Buffer; readonly name: string | undefined } | 'unreadable' | undefined
> {
  const written = optionalField(fields, 'media');
  if (written === undefined && file === undefined) return undefined;
  const bytes = await decodeFile(file ?? Buffer.from(JSON.stringify(written).slice(1, -1)));
  return bytes ? { bytes, name: optionalField(fields, 'media_name') } : 'unreadable';
}
