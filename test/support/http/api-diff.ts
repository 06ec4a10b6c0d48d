interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** A parameter or a header. */
interface Value {
  readonly $ref?: string;
  readonly name?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Body {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly headers?: Readonly<Record<string, Value>>;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly description?: string;
  /** The permission that the description names. Only operations in the output of `formOf` have this field. */
  readonly permission?: string | undefined;
  readonly parameters?: readonly Value[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export interface ApiDocument {
  readonly paths: Operations;
  readonly webhooks: Operations;
  readonly components: unknown;
}

/** The parts of an OpenAPI document that a program can depend on, without texts, examples and addresses, as JSON. */
export function formOf({ paths, webhooks, components }: ApiDocument): string {
  const named = mapValues(paths, (methods) =>
    mapValues(methods, (operation) => ({ permission: permissionOf(operation), ...operation })),
  );
  return `${linesOf(withoutTexts({ paths: named, webhooks, components }, false), 3)}\n`;
}

const mapValues = <From, To>(of: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]));

/** The permission that an operation needs, which its description names. */
const permissionOf = ({ permission, description = '' }: Operation) =>
  permission ?? /Permission: `(.+)`/.exec(description)?.[1];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param isNames true for an object whose names are fields, since a field may have the name of a keyword */
function withoutTexts(value: unknown, isNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((part) => withoutTexts(part, false));
  if (!isObject(value)) return value;
  const texts = /^(summary|description|examples?|tags|operationId|securitySchemes)$/;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNames || !texts.test(name))
      .map(([name, part]) => [name, withoutTexts(part, !isNames && name === 'properties')]),
  );
}

/** JSON with a line for each operation, schema, header and answer. */
function linesOf(value: unknown, levels: number): string {
  if (levels === 0 || !isObject(value)) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}: ${linesOf(part, levels - 1)}`,
  );
  return `{\n${lines.join(',\n')}\n}`;
}

/** Names each change of an OpenAPI document that may break a program (specification section 9). */
export function breakingChanges(before: ApiDocument, after: ApiDocument): string[] {
  return [
    ...operationChanges(before.paths, after.paths, true),
    ...operationChanges(before.webhooks, after.webhooks, false),
  ];

  /** @param isServed true for operations that programs call, false for requests that Ownline sends to them */
  function operationChanges(olds: Operations, news: Operations, isServed: boolean): string[] {
    return Object.entries(olds).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, old]) => {
        const name = `${method.toUpperCase()} ${path}`;
        const now = news[path]?.[method];
        if (now === undefined) return [`${name} is gone`];
        const statuses = Object.entries(isServed ? (old.responses ?? {}) : {});
        const [needed, needs] = [permissionOf(old), permissionOf(now)];
        return [
          ...(needed === needs ? [] : [`${name}: needed ${needed}, needs ${needs}`]),
          ...valueChanges(name, byName(old.parameters, before), byName(now.parameters, after), isServed),
          ...bodyChanges(`${name} takes`, old.requestBody, now.requestBody, isServed),
          ...statuses.flatMap(([status, body]) =>
            bodyChanges(`${name} answers ${status}`, body, now.responses?.[status], false),
          ),
        ];
      }),
    );
  }

  function bodyChanges(name: string, oldBody: Body | undefined, newBody: Body | undefined, isSent: boolean) {
    const [old, now] = [resolve(before, oldBody), resolve(after, newBody)];
    if (old !== undefined && now === undefined) return [`${name}: is gone`];
    return [
      ...(isSent && now?.required === true && old?.required !== true ? [`${name}: a body is required`] : []),
      ...valueChanges(name, old?.headers, now?.headers, false),
      ...schemaChanges(name, schemaOf(old), schemaOf(now), isSent),
    ];
  }

  function valueChanges(
    name: string,
    olds: Readonly<Record<string, Value>> = {},
    news: Readonly<Record<string, Value>> = {},
    isSent: boolean,
  ): string[] {
    const fields = (values: Readonly<Record<string, Value>>, document: ApiDocument): Schema => {
      const resolved = Object.entries(values).map(([key, value]) => [key, resolve(document, value)] as const);
      return {
        properties: Object.fromEntries(resolved.map(([key, value]) => [key, value?.schema ?? {}])),
        required: resolved.flatMap(([key, value]) => (value?.required === true ? [key] : [])),
      };
    };
    return schemaChanges(name, fields(olds, before), fields(news, after), isSent);
  }

  /** @param isSent true for a value that programs send, which may become wider. Received values may become narrower. */
  function schemaChanges(
    name: string,
    oldSchema: Schema | undefined,
    newSchema: Schema | undefined,
    isSent: boolean,
  ): string[] {
    const [old, now] = [resolve(before, oldSchema), resolve(after, newSchema) ?? {}];
    if (old === undefined)
      return (isSent ? (now.required ?? []) : []).map((field) => `${name} ${field}: is required`);
    const [olds, news] = [old, now].map((schema) => schema.anyOf ?? schema.oneOf ?? [schema]) as [
      Schema[],
      Schema[],
    ];
    if (olds.length > 1 || news.length > 1) {
      const fits = (one: Schema, other: Schema) => schemaChanges(name, one, other, isSent).length === 0;
      const lost = olds.some((one) => !news.some((other) => fits(one, other)));
      const isOpen = isSent || old.oneOf !== undefined;
      const added = !isOpen && news.some((other) => !olds.some((one) => fits(one, other)));
      return lost || added ? [`${name}: has other types`] : [];
    }
    const [was, is] = [old, now].map(({ type, const: only }) => JSON.stringify(type ?? only ?? 'any'));
    if (was !== is) return [`${name}: was ${was}, is ${is}`];
    const [needed, neededNow] = [old.required ?? [], now.required ?? []];
    const goneWords = (old.enum ?? []).filter((word) => now.enum && !now.enum.includes(word));
    const isGone = (field: string) => now.properties?.[field] === undefined;
    const unmet = isSent
      ? neededNow.filter((field) => !needed.includes(field))
      : needed.filter((field) => !neededNow.includes(field) && !isGone(field));
    return [
      ...goneWords.map((word) => `${name}: has no word ${word}`),
      ...(isSent ? narrowed(old, now).map((keyword) => `${name}: is narrower by ${keyword}`) : []),
      ...unmet.map((field) => `${name} ${field}: ${isSent ? 'is required' : 'may be missing'}`),
      ...Object.entries(old.properties ?? {}).flatMap(([field, schema]) =>
        isGone(field)
          ? [`${name} ${field}: is gone`]
          : schemaChanges(`${name} ${field}`, schema, now.properties?.[field], isSent),
      ),
      ...(old.items ? schemaChanges(`${name}[]`, old.items, now.items, isSent) : []),
    ];
  }
}

/** The keywords whose change may make the server refuse a value that it accepted before. */
function narrowed(old: Schema, now: Schema): string[] {
  const isLess = (keyword: string, sign: 1 | -1) => {
    const bound = now[keyword];
    return typeof bound === 'number' && !(sign * Number(old[keyword]) <= sign * bound);
  };
  return [
    ...['maxLength', 'maximum', 'maxItems', 'maxProperties'].filter((keyword) => isLess(keyword, 1)),
    ...['minLength', 'minimum', 'minItems', 'minProperties'].filter((keyword) => isLess(keyword, -1)),
    ...(now.pattern !== undefined && now.pattern !== old.pattern ? ['pattern'] : []),
    ...(now.enum !== undefined && old.enum === undefined ? ['enum'] : []),
  ];
}

const schemaOf = (body: Body | undefined) => body?.content?.['application/json']?.schema;

function byName(parameters: readonly Value[] = [], document: ApiDocument): Record<string, Value> {
  return Object.fromEntries(
    parameters.map((parameter) => [resolve(document, parameter)?.name ?? '', parameter]),
  );
}

function resolve<T extends { readonly $ref?: string }>(
  document: ApiDocument,
  value: T | undefined,
): T | undefined {
  const names = value?.$ref?.split('/').slice(1);
  return names
    ? (names.reduce<unknown>(
        (part, name) => (part as Readonly<Record<string, unknown>>)[name],
        document,
      ) as T)
    : value;
}
