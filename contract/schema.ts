import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

/** An object that refuses fields it does not know (specification section 4: a misspelt field must not vanish). */
export function strictObject<P extends TProperties>(properties: P, options: TSchemaOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of a few words. A real `enum` in OpenAPI and one error instead of one per word. */
export function stringEnum<const T extends readonly string[]>(values: T, options: TSchemaOptions = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });
}

/** ISO 8601, UTC, milliseconds and Z (specification section 2). */
export function timestamp(description: string) {
  return Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
    examples: ['2026-11-21T09:30:00.000Z'],
  });
}

/** The position of a page in a request: an id, or empty. */
export function cursorOf(description: string) {
  return Type.String({ maxLength: 100, description });
}

export function nullable<S extends TSchema>(schema: S, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** An id of the API: `msg_01h2xcejqtf2nbrexx3vqjhp41` (specification section 2.1). */
export function publicIdOf(prefix: string, description: string) {
  return Type.String({
    pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
    description,
    examples: [`${prefix}_01h2xcejqtf2nbrexx3vqjhp41`],
  });
}

export type { Static };
