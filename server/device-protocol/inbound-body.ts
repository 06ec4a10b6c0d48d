import { endOfString } from '#server/platform/http/json-bounds.ts';
import type { DeviceBody } from './device-body.ts';
import { parseDeviceBody } from './device-body.ts';
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
  const fields = parseDeviceBody(file && Buffer.isBuffer(raw) ? withoutPart(raw, file) : raw);
  return fields && { fields, file: fields.get('media') === '' ? file : undefined };
}

/** Finds the value of the first field `media`, without its quotes. @returns a part of `raw` */
function findFile(raw: Buffer): Buffer | undefined {
  const name = '"media"';
  for (let at = raw.indexOf(name); at !== -1; at = raw.indexOf(name, at + name.length)) {
    // Inside a text, each quote has a backslash before it.
    const [lead = ''] =
      /^\s*:\s*"/.exec(raw.toString('latin1', at + name.length, at + name.length + 64)) ?? [];
    if (lead === '' || raw[at - 1] === backslash) continue;
    const start = at + name.length + lead.length;
    const quote = raw.indexOf('"', start);
    return raw.subarray(start, raw[quote - 1] === backslash ? endOfString(raw, start) : quote);
  }
  return undefined;
}

const backslash = 0x5c;

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
