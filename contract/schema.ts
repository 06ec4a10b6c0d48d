import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

/** An object schema that refuses unknown fields, so that a misspelt field is an error (specification section 2.1). */
export function strictObject<P extends TProperties>(properties: P, options: TSchemaOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** An OpenAPI `enum` of strings. A wrong value gives one error; a union would give one for each value. */
export function stringEnum<const T extends readonly string[]>(values: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** A time in ISO 8601 with UTC, milliseconds and Z (specification section 2). */
export function timestamp(description: string) {
  return Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
    examples: ['2026-11-21T09:30:00.000Z'],
  });
}

export function nullable<S extends TSchema>(schema: S, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** The nouns of public ids in paths, by prefix, as errors and documents name them. */
export const idNouns = {
  num: 'number',
  msg: 'message',
  wh: 'webhook',
  dlv: 'delivery',
  key: 'API key',
  usr: 'member',
  inv: 'invitation',
  pky: 'passkey',
  acs: 'session',
  con: 'contact',
  cnv: 'conversation',
  med: 'file',
} as const;

/** An id of the API, such as `msg_01h2xcejqtf2nbrexx3vqjhp41` (specification section 2.1). */
export function publicIdOf(prefix: string, description: string) {
  return Type.String({
    pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
    description,
    examples: [`${prefix}_01h2xcejqtf2nbrexx3vqjhp41`],
  });
}

export type { Static };
