import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { idNouns, publicIdOf } from '#contract/schema.ts';
import { type Example, type Examples, firstSuccess } from './example.ts';
import { examplesOfEveryOperation, examplesOfRoute } from './refusal-examples.ts';
import type { HeaderText, OperationText, PathIds, Route } from './route.ts';

/** A request that the server sends to a receiver of its events. */
export interface OutgoingRequestText {
  /** The type of the event, which names the request. */
  readonly type: string;
  readonly summary: string;
  readonly description: string;
  readonly body: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
}

interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly baseUrl: string;
  /** The tags, which are the sections of the API reference, in their order, each with a sentence. */
  readonly tags: Readonly<Record<string, string>>;
  /**
   * Named schemas: the document refers to a schema by its name wherever a route uses the same object. `Error` is the
   * body of errors.
   */
  readonly components: Readonly<Record<string, TSchema>>;
  /** Schemas of the path parameters that are no ids, by their names. */
  readonly parameters: Readonly<Record<string, TSchema>>;
  /** The description of each error response, by status. */
  readonly errorResponses: Readonly<Record<number, string>>;
  /** The requests that the server sends to its clients. */
  readonly outgoing: {
    readonly tag: string;
    readonly headers: readonly HeaderText[];
    readonly requests: readonly OutgoingRequestText[];
  };
}

type Json = Readonly<Record<string, unknown>>;

/** Error statuses of every operation, and of every operation that reads a body. */
const commonErrorStatuses = [400, 401, 403, 429, 500, 503];
const bodyErrorStatuses = [413, 415];

/** An operation without a body accepts `{}`, because many clients send it with every POST. */
const noFields: TSchema = { type: 'object', maxProperties: 0 };

/** Creates the OpenAPI 3.1 document of /v1 from the route table that serves it (specification section 9). */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions): Json {
  const names = new Map(Object.entries(options.components).map(([name, schema]) => [schema, name]));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    if (route.audience !== 'api' || route.text === undefined) continue;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(route, route.text, names, options),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this server', url: options.baseUrl },
    },
    servers: [{ url: options.baseUrl }],
    tags: Object.entries(options.tags).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: Object.fromEntries(
      options.outgoing.requests.map((text) => [text.type, { post: outgoingRequest(text, names, options) }]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key of the team, sent in `x-api-key`.',
        },
      },
      headers: answerHeaders,
      parameters: Object.fromEntries(
        options.outgoing.headers.map((header) => [header.name, headerParameter(header)]),
      ),
      responses: Object.fromEntries(
        Object.entries(examplesOfEveryOperation).map(([status, examples]) => [
          responseName(Number(status)),
          errorResponse(Number(status), examples, options),
        ]),
      ),
      schemas: Object.fromEntries(
        Object.entries(options.components).map(([name, schema]) => [name, show(schema, names, schema)]),
      ),
    },
  };
}

function operation(
  route: Route,
  text: OperationText,
  names: ReadonlyMap<TSchema, string>,
  options: DocumentOptions,
): Json {
  const examples = { ...text.examples, ...examplesOfRoute(route) };
  const first = firstSuccess(text.examples);
  const parameters = [
    ...[...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      ...withoutDescription(idSchema(route.ids?.[name]) ?? options.parameters[name] ?? {}, names),
      ...exampleOf(first?.params, name),
    })),
    ...Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      ...withoutDescription(schema, names),
      ...(exampleOf(first?.query, name) ?? unusedFilter(schema)),
    })),
    ...(text.headers ?? []).map((header) => ({
      ...headerParameter(header),
      ...exampleOf(first?.headers, header.name),
    })),
  ];
  const readsBody = route.method !== 'GET';
  const shown = Object.values(examples).map(({ status }) => status);
  const refusals = new Set([
    ...commonErrorStatuses,
    ...(readsBody ? bodyErrorStatuses : []),
    ...shown.filter((status) => status >= 400),
  ]);
  const body = route.body ?? (route.method === 'POST' ? noFields : undefined);
  return {
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: `${text.description}\n\nPermission: \`${route.permission}\`.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: 'required' in body,
            content: {
              'application/json': {
                schema: show(body, names),
                ...(body === noFields ? { example: {} } : requestExamples(text.examples)),
              },
            },
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [
          status,
          {
            description: STATUS_CODES[status],
            headers: successHeaders(text),
            content: {
              'application/json': {
                schema: show(schema, names),
                examples: answerExamples(ofStatus(examples, Number(status))),
              },
            },
          },
        ]),
      ),
      ...Object.fromEntries(
        [...refusals]
          .toSorted()
          .map((status) => [
            status,
            status in examplesOfEveryOperation
              ? { $ref: `#/components/responses/${responseName(status)}` }
              : errorResponse(status, ofStatus(examples, status), options),
          ]),
      ),
    },
  };
}

function idSchema(prefix: PathIds[string] | undefined): TSchema | undefined {
  return prefix && publicIdOf(prefix, `The id of the ${idNouns[prefix]}.`);
}

function outgoingRequest(
  { type, summary, description, body, example }: OutgoingRequestText,
  names: ReadonlyMap<TSchema, string>,
  { outgoing }: DocumentOptions,
): Json {
  return {
    operationId: `on.${type}`.replaceAll(/[._](\w)/g, (_match, letter: string) => letter.toUpperCase()),
    tags: [outgoing.tag],
    summary,
    description,
    // The receiver verifies a signature; the request carries no API key.
    security: [],
    parameters: outgoing.headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: show(body, names), example } },
    },
    responses: {
      '2XX': { description: 'The receiver has taken the event.' },
      default: { description: 'Any other answer is a failure. The request is repeated.' },
    },
  };
}

function headerParameter({ name, description, schema, required = false }: HeaderText): Json {
  return { name, in: 'header', description, ...(required ? { required } : {}), schema };
}

function errorResponse(status: number, examples: Examples, options: DocumentOptions): Json {
  return {
    description: options.errorResponses[status],
    headers: errorHeaders(status),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: answerExamples(examples),
      },
    },
  };
}

function ofStatus(examples: Examples, status: number): Examples {
  return Object.fromEntries(Object.entries(examples).filter(([, example]) => example.status === status));
}

function answerExamples(examples: Examples): Json {
  return named(examples, ({ answer }) => answer);
}

/** Shows only requests that are accepted, because the schema of the request has to allow each of its examples. */
function requestExamples(examples: Examples): Json {
  const accepted = Object.entries(examples).filter(([, { status, body }]) => status < 300 && body);
  return accepted.length === 0 ? {} : { examples: named(Object.fromEntries(accepted), ({ body }) => body) };
}

function named(examples: Examples, value: (example: Example) => unknown): Json {
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [
      name,
      { summary: example.summary, value: value(example) },
    ]),
  );
}

function exampleOf(values: Readonly<Record<string, unknown>> | undefined, name: string): Json | undefined {
  const example = values?.[name];
  return example === undefined ? undefined : { example };
}

/**
 * An example for a filter with fixed values that the request leaves out. Without it, the page of the API reference would
 * fill in the first value of each filter, and such filters may exclude each other.
 */
function unusedFilter(schema: TSchema): Json {
  const [value] = 'enum' in schema ? (schema.enum as readonly string[]) : [];
  return value === undefined ? {} : { examples: { unused: { value, 'x-disabled': true } } };
}

/**
 * Moves the description of a parameter from its schema to the parameter, where OpenAPI expects it. Leaves out examples
 * of the schema, because readers of the document would send them all together.
 */
function withoutDescription(schema: TSchema, names: ReadonlyMap<TSchema, string>): Json {
  const { description, examples: _examples, ...rest } = show(schema, names);
  return { ...(description === undefined ? {} : { description }), schema: rest };
}

/**
 * Renders a schema for the document: named schemas become references. Answers omit `additionalProperties`, because
 * fields may be added within v1. Requests keep it, because they refuse unknown fields.
 */
function show(schema: TSchema, names: ReadonlyMap<TSchema, string>, top?: TSchema): Json {
  const name = names.get(schema);
  if (name !== undefined && schema !== top) return { $ref: `#/components/schemas/${name}` };
  const isRequest = top !== undefined && (names.get(top) ?? '').endsWith('Request');
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'additionalProperties' && !isRequest) continue;
    shown[key] = showPart(key, value, names);
  }
  return 'discriminator' in schema ? showUnion(schema, names) : shown;
}

/** Renders a union of named schemas, each of which has one value of the discriminating property. */
function showUnion(schema: TSchema, names: ReadonlyMap<TSchema, string>): Json {
  const { anyOf, discriminator, ...rest } = schema as {
    readonly anyOf: readonly (TSchema & {
      readonly properties: Record<string, { readonly enum: [string] }>;
    })[];
    readonly discriminator: { readonly propertyName: string };
  };
  const { propertyName } = discriminator;
  const mapping = anyOf.map((part) => [part.properties[propertyName]?.enum[0], show(part, names).$ref]);
  return {
    ...rest,
    oneOf: anyOf.map((part) => show(part, names)),
    discriminator: { propertyName, mapping: Object.fromEntries(mapping) },
  };
}

function showPart(key: string, value: unknown, names: ReadonlyMap<TSchema, string>): unknown {
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, TSchema>).map(([name, part]) => [name, show(part, names)]),
    );
  }
  if (key === 'anyOf') return (value as TSchema[]).map((part) => show(part, names));
  return key === 'items' ? show(value as TSchema, names) : value;
}

function responseName(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(/\W/g, '');
}

const answerHeaders: Json = {
  'request-id': {
    description: 'Names the request in the logs of the server.',
    required: true,
    schema: { type: 'string' },
  },
  'cache-control': { description: 'Always no-store.', required: true, schema: { type: 'string' } },
  'ratelimit-policy': {
    description:
      'Requests (q) per seconds (w) that the team may send. Left out where the server sets no limit.',
    schema: { type: 'string' },
    example: '"team";q=1000;w=60',
  },
  ratelimit: {
    description:
      'The requests that are left (r), as far as this process knows, and the seconds until the limit resets (t).',
    schema: { type: 'string' },
    example: '"team";r=997;t=41',
  },
  'retry-after': {
    description: 'Seconds to wait before the request is repeated.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'idempotent-replayed': {
    description: 'true: this is the answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
};
const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const everyAnswer = ['request-id', 'cache-control'];
const afterKey = ['ratelimit-policy', 'ratelimit'];

/** Headers of success answers; for sends one of them says whether the answer repeats an earlier one. */
function successHeaders({ headers = [] }: OperationText): Json {
  const repeats = headers.some(({ name }) => name === 'Idempotency-Key') ? ['idempotent-replayed'] : [];
  return headerRefs([...everyAnswer, ...afterKey, ...repeats]);
}

/** Headers of errors. A 401 has no rate limit headers, because its team is unknown. */
function errorHeaders(status: number): Json {
  const counted = status === 401 ? [] : afterKey;
  const waits = [429, 500, 503].includes(status) ? ['retry-after'] : [];
  return headerRefs([...everyAnswer, ...counted, ...waits]);
}
