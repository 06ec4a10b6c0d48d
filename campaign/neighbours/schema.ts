/** A JSON schema of the route table. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Values that exist in the service, by field or parameter name. */
export type KnownValues = Readonly<Record<string, unknown>>;

/** The length of a text whose schema has no limit. */
const textMaxCharacters = 200;

export function propertiesOf(schema: Schema | null): readonly (readonly [string, Schema])[] {
  const { properties } = schema ?? {};
  return typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
}

export function largestValue(schema: Schema, name: string, known: KnownValues): unknown {
  if (name in known) return known[name];
  if ('const' in schema) return schema.const;
  const variants = listOf(schema.anyOf).concat(listOf(schema.oneOf)) as Schema[];
  const [variant] = variants.filter(({ type }) => type !== 'null');
  if (variant) return largestValue(variant, name, known);
  const [longest] = (listOf(schema.enum) as string[]).toSorted((a, b) => b.length - a.length);
  if (longest !== undefined) return longest;
  switch (schema.type) {
    case 'object':
      return largestObject(schema, known);
    case 'array':
      return largestArray(schema, known);
    case 'integer':
    case 'number':
      return schema.maximum ?? schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return largestText(schema);
  }
}

/** An object with every property of a schema at its largest value. */
export function largestObject(schema: Schema | null, known: KnownValues): Record<string, unknown> {
  return Object.fromEntries(
    propertiesOf(schema).map(([name, property]) => [name, largestValue(property, name, known)]),
  );
}

/** Whether a schema, or one of its variants, is an array. */
export function isArray(schema: Schema): boolean {
  return schema.type === 'array' || (listOf(schema.anyOf) as Schema[]).some(isArray);
}

export function itemOf(schema: Schema, known: KnownValues): unknown {
  const array = schema.type === 'array' ? schema : (listOf(schema.anyOf) as Schema[]).find(isArray);
  const items = array?.items;
  return typeof items === 'object' && items !== null ? largestValue({ ...items }, '', known) : 'x';
}

function largestArray(schema: Schema, known: KnownValues): unknown[] {
  const items = schema.items as Schema | undefined;
  const choices = listOf(items?.enum);
  const { maxItems } = schema;
  const count = typeof maxItems === 'number' ? maxItems : Math.max(1, choices.length);
  return Array.from(
    { length: count },
    (_, index) => choices[index % (choices.length || 1)] ?? itemOf(schema, known),
  );
}

function largestText({ pattern, examples, maxLength }: Schema): string {
  const [example] = listOf(examples);
  if (typeof pattern === 'string' || typeof maxLength !== 'number') {
    return String(example ?? 'a'.repeat(textMaxCharacters));
  }
  return 'a'.repeat(maxLength);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
