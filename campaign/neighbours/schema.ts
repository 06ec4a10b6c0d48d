/** A JSON schema, as the route table has it. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Values of fields and parameters that mean something to the service, by name. */
export type KnownValues = Readonly<Record<string, unknown>>;

/** Longest value of a text that has no limit of its own. */
const textMaxCharacters = 200;

/** The fields or parameters that an object schema knows. */
export function propertiesOf(schema: Schema | undefined): readonly (readonly [string, Schema])[] {
  const { properties } = schema ?? {};
  return typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
}

/** The largest value that a schema takes, as far as the schema says it. */
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

/** Every field that a schema knows, each at its largest. */
export function largestObject(schema: Schema | undefined, known: KnownValues): Record<string, unknown> {
  return Object.fromEntries(
    propertiesOf(schema).map(([name, property]) => [name, largestValue(property, name, known)]),
  );
}

/** Whether an array fits a schema, one of its variants included. */
export function isArray(schema: Schema): boolean {
  return schema.type === 'array' || (listOf(schema.anyOf) as Schema[]).some(isArray);
}

/** One valid item of an array. */
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
