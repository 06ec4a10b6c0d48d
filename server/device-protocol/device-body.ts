/** A device's body as the protocol reads it: flat, strings only (specification section 11.1). */
export type DeviceBody = ReadonlyMap<string, string>;

/**
 * Reads what a device sent, whatever its Content-Type says. Unknown fields are ignored; U+0000 and lone surrogates
 * become U+FFFD; what is neither text nor number counts as missing.
 * @returns undefined where the body is no JSON object
 */
export function readDeviceBody(raw: unknown): DeviceBody | undefined {
  if (!Buffer.isBuffer(raw)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value === 'string') fields.set(name, value.toWellFormed().replaceAll('\u0000', '\ufffd'));
    else if (typeof value === 'number') fields.set(name, String(value));
  }
  return fields;
}

/** A field whose missing, empty and "none" forms all mean that there is no value. Never used for a text. */
export function valueIn(body: DeviceBody, name: string): string | undefined {
  const value = body.get(name)?.trim();
  return value === undefined || value === '' || value === 'none' ? undefined : value;
}
