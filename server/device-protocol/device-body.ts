/** A device's body as the protocol reads it: flat, strings only (specification section 11.1). */
export type DeviceBody = ReadonlyMap<string, string>;

/** The body of a poll or a status. */
export const deviceBodyLimitBytes = 256 * 1_024;

/** A flat body has a dozen fields; a list of texts in one of them may have many lines. */
const fieldsMax = 32;
const valuesMax = 4_096;

/**
 * Reads what a device sent, whatever its Content-Type says. Unknown fields are ignored; U+0000 and lone surrogates
 * become U+FFFD; numbers, true and false are read as texts, and of a list its texts, one a line, as a shortcut writes
 * them; anything else counts as missing.
 * @returns undefined where the body is no JSON object, or has more than 32 fields or 4,096 values
 */
export function readDeviceBody(raw: unknown): DeviceBody | undefined {
  if (!Buffer.isBuffer(raw) || !isSmall(raw)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(parsed)) {
    const text = Array.isArray(value) ? listText(value) : scalarText(value);
    if (text !== undefined) fields.set(name, text.toWellFormed().replaceAll('\u0000', '\ufffd'));
  }
  return fields;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openings = [0x5b, 0x7b];
const closings = [0x5d, 0x7d];

/**
 * Counts the fields and values of a JSON text before anything is built of them: parsing a body of nothing but fields
 * takes fifty times as long as a text of its length. It is no check of the syntax, which the parser does.
 */
function isSmall(json: Buffer): boolean {
  let depth = 0;
  let fields = 0;
  let values = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === colon) fields += depth === 1 ? 1 : 0;
    else if (byte === comma) values += 1;
    else if (byte === openings[0] || byte === openings[1]) {
      depth += 1;
      values += 1;
    } else if (byte === closings[0] || byte === closings[1]) depth -= 1;
    if (fields > fieldsMax || values > valuesMax) return false;
  }
  return true;
}

function scalarText(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isText ? String(value) : undefined;
}

function listText(values: readonly unknown[]): string | undefined {
  const texts = values.flatMap((value) => scalarText(value) ?? []);
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** A field whose missing, empty and "none" forms all mean that there is no value. Never used for a text. */
export function valueIn(body: DeviceBody, name: string): string | undefined {
  const value = body.get(name)?.trim();
  return value === undefined || value === '' || value === 'none' ? undefined : value;
}
