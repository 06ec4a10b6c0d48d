type Schema = Readonly<Record<string, unknown>>;

/**
 * Lists the promises of an OpenAPI document, a line each: operations, refusals, fields, parameters and headers with
 * types. Example: `POST /v1/messages/send takes content: string, required`.
 */
export function readPromises(document: Schema): string[] {
  const paths = document.paths as Record<string, Record<string, Schema>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
      answers: Object.entries(operation.responses as Record<string, Schema>),
    })),
  );
  // Operations share the headers of their refusals, and all refusals share one schema.
  const refusals = operations.flatMap(({ answers }) => answers.filter(([status]) => isRefusal(status)));
  const { schemas } = document.components as Record<string, Record<string, Schema>>;
  return [
    ...operations.flatMap(({ name, operation, answers }) => [
      name,
      ...requestLines(document, name, operation),
      ...answers.flatMap(([status, answer]) =>
        isRefusal(status)
          ? [`${name} answers ${status}`]
          : answerLines(document, `${name} answers ${status}`, answer),
      ),
    ]),
    ...new Set(
      refusals.flatMap(([status, reference]) => {
        const refusal = resolve(document, reference);
        const body = String(jsonSchema(refusal)?.$ref).split('/').at(-1);
        return [...headerLines(document, status, refusal), `${status} has the body ${body}`];
      }),
    ),
    ...objectLines(document, 'Error has ', schemas?.Error, false),
    ...webhookLines(document),
  ];
}

function requestLines(document: Schema, name: string, operation: Schema): string[] {
  const parameters = Array.isArray(operation.parameters) ? (operation.parameters as Schema[]) : [];
  const body = operation.requestBody as Schema | undefined;
  return [
    ...parameters.flatMap((parameter) =>
      fieldLines(
        document,
        `${name} takes ${parameter.name}`,
        parameter.schema as Schema,
        neededIf(parameter.required === true),
      ),
    ),
    ...(body === undefined ? [] : [`${name} takes a body${neededIf(body.required === true)}`]),
    ...objectLines(document, `${name} takes `, jsonSchema(body), true),
  ];
}

function answerLines(document: Schema, prefix: string, answer: Schema): string[] {
  return [
    ...headerLines(document, prefix, answer),
    ...objectLines(document, `${prefix} `, jsonSchema(answer), false),
  ];
}

/** The requests to receivers: `message.sent sends data.content: string`. */
function webhookLines(document: Schema): string[] {
  const webhooks = document.webhooks as Record<string, { readonly post: Schema }>;
  return Object.entries(webhooks).flatMap(([type, { post }]) => [
    ...(post.parameters as Schema[])
      .map((reference) => resolve(document, reference))
      .flatMap(({ name, schema, required }) =>
        fieldLines(document, `${type} sends ${name}`, schema as Schema, required ? '' : ', optional'),
      ),
    ...objectLines(document, `${type} sends `, jsonSchema(post.requestBody), false),
  ]);
}

const isRefusal = (status: string) => Number(status) >= 400;
const neededIf = (isRequired: boolean) => (isRequired ? ', required' : ', optional');

function jsonSchema(content: unknown): Schema | undefined {
  const types = (content as { content?: Record<string, { schema: Schema }> } | undefined)?.content;
  return types?.['application/json']?.schema;
}

function headerLines(document: Schema, prefix: string, answer: Schema): string[] {
  return Object.entries((answer.headers ?? {}) as Record<string, Schema>).flatMap(([name, reference]) => {
    const header = resolve(document, reference);
    const suffix = header.required === true ? '' : ', optional';
    return fieldLines(document, `${prefix} with ${name}`, header.schema as Schema, suffix);
  });
}

/** A line for each field of an object, or of all objects of a union. `required` marks the required fields of a request. */
function objectLines(
  document: Schema,
  prefix: string,
  schema: Schema | undefined,
  isRequest: boolean,
): string[] {
  const { properties = {}, required = [], oneOf } = resolve(document, schema ?? {});
  if (Array.isArray(oneOf)) {
    const parts: Schema[] = oneOf;
    return [...new Set(parts.flatMap((part) => objectLines(document, prefix, part, isRequest)))];
  }
  return Object.entries(properties as Record<string, Schema>).flatMap(([name, field]) => {
    const isRequired = (required as string[]).includes(name);
    const suffix = isRequired && !isRequest ? '' : neededIf(isRequired);
    return fieldLines(document, `${prefix}${name}`, field, suffix);
  });
}

function fieldLines(document: Schema, name: string, schema: Schema, suffix: string): string[] {
  const resolved = resolve(document, schema);
  const parts = Array.isArray(resolved.anyOf)
    ? resolved.anyOf.map((part: Schema) => resolve(document, part))
    : [resolved];
  const type = parts.map((part) => part.type ?? `only ${part.const}`).join(' or ');
  const words = parts.flatMap((part) => (Array.isArray(part.enum) ? part.enum : []));
  return [
    `${name}: ${type}${suffix}`,
    ...words.map((word) => `${name} = ${word}`),
    ...parts.flatMap((part) => [
      ...objectLines(document, `${name}.`, part, false),
      ...(part.type === 'array' ? objectLines(document, `${name}[].`, part.items as Schema, false) : []),
    ]),
  ];
}

function resolve(document: Schema, schema: Schema): Schema {
  const reference = schema.$ref;
  if (typeof reference !== 'string') return schema;
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Schema)[name], document);
  return found as Schema;
}
