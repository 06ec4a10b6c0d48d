import type { TSchema } from 'typebox';
import { components } from '#contract/components.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Named schemas: the document refers to a schema by its name wherever a route uses the same object. */
const names: ReadonlyMap<TSchema, string> = new Map(
  Object.entries(components).map(([name, schema]) => [schema, name]),
);

/**
 * Moves the description of a parameter from its schema to the parameter, where OpenAPI expects it. Leaves out examples
 * of the schema, because readers of the document would send them all together.
 */
export function withoutDescription(schema: TSchema): Json {
  const { description, examples: _examples, ...rest } = show(schema);
  return { ...(description === undefined ? {} : { description }), schema: rest };
}

/**
 * Renders a schema for the document: named schemas become references. Answers omit `additionalProperties`, because
 * fields may be added within v1. Requests keep it, because they refuse unknown fields.
 */
export function show(schema: TSchema, top?: TSchema): Json {
  const name = names.get(schema);
  if (name !== undefined && schema !== top) return { $ref: `#/components/schemas/${name}` };
  const isRequest = top !== undefined && (names.get(top) ?? '').endsWith('Request');
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && !isRequest) continue;
    shown[key] = showPart(key, value);
  }
  return 'discriminator' in schema ? showUnion(schema) : shown;
}

/** Renders a union of named schemas, each of which has one value of the discriminating property. */
function showUnion(schema: TSchema): Json {
  const { anyOf, discriminator, ...rest } = schema as {
    readonly anyOf: readonly (TSchema & {
      readonly properties: Record<string, { readonly enum: [string] }>;
    })[];
    readonly discriminator: { readonly propertyName: string };
  };
  const { propertyName } = discriminator;
  const mapping = anyOf.map((part) => [part.properties[propertyName]?.enum[0], show(part).$ref]);
  return {
    ...rest,
    oneOf: anyOf.map((part) => show(part)),
    discriminator: { propertyName, mapping: Object.fromEntries(mapping) },
  };
}

function showPart(key: string, value: unknown): unknown {
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, TSchema>).map(([name, part]) => [name, show(part)]),
    );
  }
  if (key === 'anyOf') return (value as TSchema[]).map((part) => show(part));
  return key === 'items' ? show(value as TSchema) : value;
}
