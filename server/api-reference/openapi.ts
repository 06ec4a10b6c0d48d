import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { components } from '#contract/components.ts';
import { ErrorBody } from '#contract/errors.ts';
import { contactParameter } from '#contract/opt-out.ts';
import { idNouns, publicIdOf } from '#contract/schema.ts';
import { type Example, type Examples, firstSuccess } from '#server/http/example.ts';
import { examplesOfEveryOperation, examplesOfRoute } from '#server/http/refusal-examples.ts';
import type { HeaderText, OperationText, OutgoingRequestText, PathIds, Route } from '#server/http/route.ts';
import { type Json, show, withoutDescription } from './openapi-schema.ts';

/** Schemas of the path parameters that are no ids. */
const parameterSchemas: Readonly<Record<string, TSchema>> = { contact: contactParameter };

const errorResponses: Readonly<Record<number, string>> = {
  400: 'The request is malformed, or a field, parameter or header is not valid; `param` names it.',
  401: 'The API key is missing or not valid.',
  402: 'A limit of the plan is reached.',
  403: 'The API key lacks the permission.',
  404: 'The team has nothing with this id.',
  409: 'The request conflicts with the current state.',
  413: 'The body is larger than 16 KiB, a message than 128 KiB, a file than 5 MiB.',
  415: 'The body is not sent with `Content-Type: application/json`.',
  429: 'Too many requests; `retry-after` says how long to wait.',
  500: 'Something failed on the server; repeat the request.',
  503: 'The server is at its capacity or stopping; repeat the request after `retry-after`.',
};

/** Error statuses of every operation, and of every operation that reads a body. */
const commonErrorStatuses = [400, 401, 403, 429, 500, 503];
const bodyErrorStatuses = [413, 415];

/** A file: its bytes are the body. */
const fileContent: Json = { content: { 'application/octet-stream': {} } };

/** An operation without a body accepts `{}`, because many clients send it with every POST. */
const noFields: TSchema = { type: 'object', maxProperties: 0 };

export function operation(route: Route, text: OperationText): Json {
  const examples = { ...text.examples, ...examplesOfRoute(route) };
  const first = firstSuccess(text.examples);
  const parameters = [
    ...[...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      ...withoutDescription(idSchema(route.ids?.[name]) ?? parameterSchemas[name] ?? {}),
      ...exampleOf(first?.params, name),
    })),
    ...Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      ...(route.query?.required?.includes(name) ? { required: true } : {}),
      ...withoutDescription(schema),
      ...(exampleOf(first?.query, name) ?? unusedFilter(schema)),
    })),
    ...(text.headers ?? []).map((header) => ({
      ...headerParameter(header),
      ...exampleOf(first?.headers, header.name),
    })),
  ];
  const readsBody = route.method !== 'GET';
  const isFile = route.admission?.streamsBody ?? false;
  const shown = Object.values(examples).map(({ status }) => status);
  const refusals = new Set([
    ...commonErrorStatuses,
    ...(readsBody && !isFile ? bodyErrorStatuses : []),
    ...shown.filter((status) => status >= 400),
  ]);
  const body = route.body ?? (route.method === 'POST' ? noFields : undefined);
  return {
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: `${text.description}\n\nPermission: \`${route.permission}\`.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(isFile ? { requestBody: { required: true, ...fileContent } } : {}),
    ...(body && !isFile
      ? {
          requestBody: {
            required: 'required' in body,
            ...jsonContent(body, body === noFields ? { example: {} } : requestExamples(text.examples)),
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
            ...jsonContent(schema, answerExamples(ofStatus(examples, Number(status)))),
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
              : errorResponse(status, ofStatus(examples, status)),
          ]),
      ),
    },
  };
}

function idSchema(prefix: PathIds[string] | undefined): TSchema | undefined {
  return prefix && publicIdOf(prefix, `The id of the ${idNouns[prefix]}.`);
}

/** Describes a request that the server sends. @param headers the headers of all such requests */
export function outgoingRequest(
  { type, summary, description, body, example }: OutgoingRequestText,
  tag: string,
  headers: readonly HeaderText[],
): Json {
  return {
    operationId: `on.${type}`.replaceAll(/[._](\w)/g, (_match, letter: string) => letter.toUpperCase()),
    tags: [tag],
    summary,
    description,
    // The receiver verifies a signature; the request carries no API key.
    security: [],
    parameters: headers.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, ...jsonContent(body, { example }) },
    responses: {
      '2XX': { description: 'The receiver has taken the event.' },
      default: { description: 'Any other answer is a failure. The request is repeated.' },
    },
  };
}

export function headerParameter({ name, description, schema, required = false }: HeaderText): Json {
  return { name, in: 'header', description, ...(required ? { required } : {}), schema };
}

function errorResponse(status: number, examples: Examples): Json {
  return {
    description: errorResponses[status],
    headers: errorHeaders(status),
    ...jsonContent(ErrorBody, answerExamples(examples)),
  };
}

function jsonContent(schema: TSchema, examples: Json): Json {
  return { content: { 'application/json': { schema: show(schema), ...examples } } };
}

function ofStatus(examples: Examples, status: number): Examples {
  return Object.fromEntries(Object.entries(examples).filter(([, example]) => example.status === status));
}

function answerExamples(examples: Examples): Json {
  return { examples: named(examples, ({ answer }) => answer) };
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

function responseName(status: number): string {
  return (STATUS_CODES[status] ?? String(status)).replaceAll(/\W/g, '');
}

export const answerHeaders: Json = {
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
const headerRefs = (headers: readonly string[]): Json =>
  Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
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

/** The schemas, and the responses that every operation has, to which the operations refer. */
export function sharedParts() {
  return {
    responses: Object.fromEntries(
      Object.entries(examplesOfEveryOperation).map(([status, examples]) => [
        responseName(Number(status)),
        errorResponse(Number(status), examples),
      ]),
    ),
    schemas: Object.fromEntries(
      Object.entries(components).map(([name, schema]) => [name, show(schema, schema)]),
    ),
  };
}
