/** A part of a JSON document. */
export type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Leaves out the parts of an OpenAPI document from which clients generate nothing: examples, headers of answers,
 * refusals, and the requests to webhooks. A changed example then makes no generated file stale.
 */
export function clientParts(document: Json): Json {
  const { webhooks: _webhooks, components, ...rest } = document;
  const { schemas } = components as Json;
  return withoutExamples({ ...rest, components: { schemas } }) as Json;
}

function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'examples' && name !== 'example' && name !== 'headers')
      .map(([name, part]) => {
        if (name === 'properties') return [name, fieldsWithoutExamples(part)];
        return [name, withoutExamples(name === 'responses' ? successes(part) : part)];
      }),
  );
}

/** Leaves no field out, because a field can have the name of a keyword, such as `headers`. */
const fieldsWithoutExamples = (properties: unknown): Json =>
  Object.fromEntries(
    Object.entries(properties as Json).map(([field, schema]) => [field, withoutExamples(schema)]),
  );

const successes = (responses: unknown): Json =>
  Object.fromEntries(Object.entries(responses as Json).filter(([status]) => status.startsWith('2')));
