import type { FastifyRequest } from 'fastify';
import { unreadable } from '#server/platform/app-error.ts';
import { jsonDepthMax, jsonValuesMax } from './limits.ts';
import { validateStrings } from './validate.ts';
import { fieldError } from './validation-error.ts';

/** Parses a JSON body. An empty or missing body reads as `{}`, so that the error names the missing fields. */
export function readJsonBody(request: FastifyRequest): unknown {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {};
  const { 'content-encoding': encoding, 'content-type': type } = request.headers;
  if (encoding !== undefined && !/^(identity)?$/i.test(encoding)) {
    throw unreadable('The body is compressed. Send it without Content-Encoding.', 415, {
      param: 'Content-Encoding',
      headers: { 'accept-encoding': 'identity' },
    });
  }
  if (type !== 'application/json' && type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw unreadable('Send the body with Content-Type: application/json.', 415);
  }
  checkJsonBounds(request.body);
  const body = parseJson(request.body);
  validateStrings(body);
  return body;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes));
  } catch (error) {
    throw unreadable('The body is not valid JSON in UTF-8. Check quotes, commas and encoding.', 400, {
      cause: error,
    });
  }
}

/** Smaller bodies are not scanned, because they are cheap to parse whatever they contain. */
const scannedMinBytes = 2_048;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;

/**
 * Refuses JSON that is nested too deeply or has too many values, before it is parsed. Parsing 120,000 brackets or
 * 19,000 fields blocks the event loop for some 30 ms; scanning them takes less than 1 ms. Invalid JSON is left to the
 * parser.
 */
export function checkJsonBounds(bytes: Uint8Array, max = jsonValuesMax): void {
  if (bytes.length < scannedMinBytes) return;
  let depth = 0;
  let values = 0;
  /** Start and end of the latest complete string, quotes included. */
  let start = 0;
  let end = 0;
  /** The latest field name of the outermost object. */
  let field: Uint8Array | undefined;
  for (let index = 0; index < bytes.length; index += 1) {
    switch (bytes[index]) {
      case quote:
        start = index;
        index = endOfString(bytes, index + 1);
        end = index + 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > jsonDepthMax)
          throw fieldError(readName(field), `is nested too deeply. Send at most ${jsonDepthMax} levels`);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case colon:
        values += 1;
        if (depth === 1) field = bytes.subarray(start, end);
        break;
      case comma:
        values += 1;
        break;
    }
    if (values > max) {
      throw fieldError(
        readName(depth > 1 ? field : undefined),
        'has too many fields and entries. Send at most 500 in a body',
      );
    }
  }
}

/** Finds the end of a JSON string. @returns the index of the closing quote, or the number of bytes */
export function endOfString(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return index;
}

/** @returns undefined for bytes that are not a JSON string */
function readName(bytes: Uint8Array | undefined): string | undefined {
  try {
    const name: unknown = JSON.parse(strictUtf8.decode(bytes));
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
