import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';

/** An object that refuses fields it does not know (specification section 4: a misspelt field must not vanish). */
export function closed<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false });
}

/** One of a few words. A real `enum` in OpenAPI and one error instead of one per word. */
export function literals<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values] });
}

/** ISO 8601, UTC, milliseconds and Z (specification section 2). */
export const timestamp = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

export type { Static };
