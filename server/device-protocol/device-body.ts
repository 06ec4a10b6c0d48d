import { checkJsonBounds } from '#server/http/read-json-body.ts';
import { deviceBodyValuesMax, deviceFieldsMax } from './limits.ts';

/** A device's request body: flat, strings only (specification section 11.1). */
export type DeviceBody = ReadonlyMap<string, string>;

/**
 * Parses a device's body, whatever its Content-Type. Unknown fields are ignored; U+0000 and lone surrogates become
 * U+FFFD. Numbers and booleans become texts. A list becomes its texts, one a line; any other value counts as missing.
 * @returns undefined if the body is no JSON object, or has more than 32 fields or 4,096 values
 */
export function parseDeviceBody(raw: unknown): DeviceBody | undefined {
  if (!Buffer.isBuffer(raw)) return undefined;
  let parsed: unknown;
  try {
    checkJsonBounds(raw, deviceBodyValuesMax);
    parsed = JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const entries = Object.entries(parsed);
  if (entries.length > deviceFieldsMax) return undefined;
  const fields = new Map<string, string>();
  for (const [name, value] of entries) {
    const text = Array.isArray(value) ? listText(value) : scalarText(value);
    if (text !== undefined) fields.set(name, text.toWellFormed().replaceAll('\u0000', '\ufffd'));
  }
  return fields;
}

function scalarText(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isText ? String(value) : undefined;
}

function listText(values: readonly unknown[]): string | undefined {
  const texts = values.flatMap((value) => scalarText(value) ?? []);
  return texts.length === 0 ? undefined : texts.join('\n');
}

/**
 * Reads a field for which missing, empty and "none" mean no value. Message texts are not read with this function,
 * because a text may be "none".
 */
export function optionalField(body: DeviceBody, name: string): string | undefined {
  const value = body.get(name)?.trim();
  return value === undefined || value === '' || value === 'none' ? undefined : value;
}
