import fc from 'fast-check';
import {
  type OpenApi,
  type Operation,
  type Parameter,
  resolve,
} from '#test/support/http/openapi-document.ts';
import type { PlainRequest } from '#test/support/http/raw-http.ts';
import { bodies, noBody } from './generated-bodies.ts';
import { hostileTexts, type KnownThings, validTexts, weighted } from './generated-texts.ts';

/** A generated request, with its operation and known fault. */
export interface GeneratedRequest extends PlainRequest {
  /** Name of the operation in the document: `POST /v1/messages/send`. */
  readonly operation: string;
  /** Reason why the server must refuse the request; undefined if it may accept it. */
  readonly wrong: string | undefined;
}

/** Generates requests to every operation of an OpenAPI document: some valid, most with one fault, some with many. */
export function generatedRequests(document: OpenApi, known: KnownThings): fc.Arbitrary<GeneratedRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      requestsTo(document, known, method.toUpperCase(), path, operation),
    ),
  );
  return fc.oneof(...operations);
}

function requestsTo(
  document: OpenApi,
  known: KnownThings,
  method: string,
  path: string,
  { parameters = [], requestBody }: Operation,
): fc.Arbitrary<GeneratedRequest> {
  const schema = resolve(document, requestBody?.content['application/json']?.schema);
  return fc
    .record({
      address: addresses(path, known),
      query: queries(parameters, known),
      headers: headers(known),
      body: method === 'GET' ? fc.constant(noBody) : bodies(schema, known),
    })
    .map(({ address, query, headers, body }) => ({
      operation: `${method} ${path}`,
      method,
      path: `${address}${query.text}`,
      headers: headers.values,
      body: body.bytes,
      wrong: headers.wrong ?? query.wrong ?? body.wrong,
    }));
}

/** Generates addresses for a route's path, with valid and invalid ids. */
function addresses(path: string, known: KnownThings): fc.Arbitrary<string> {
  const ids = weighted(
    [5, fc.constantFrom(...known.ids)],
    [2, hostileTexts.map((text) => encodeURIComponent(text.toWellFormed()))],
    [1, fc.constantFrom('%', '%zz', '%C3%28', '%00', '%2F', '%252F', '..', ';a=b', '%F0%9F')],
  );
  const some = fc
    .tuple(...path.split('/').map((part) => (part.startsWith('{') ? ids : fc.constant(part))))
    .map((parts) => parts.join('/'));
  if (!path.includes('{delivery_id}')) return some;
  const right = fc
    .constantFrom(...known.deliveries)
    .map(({ id, delivery_id }) => path.replace('{id}', id).replace('{delivery_id}', delivery_id));
  return weighted([3, right], [1, some]);
}

interface Query {
  readonly text: string;
  readonly wrong: string | undefined;
}

/** Generates query parameters, some that the operation declares and some that it does not. */
function queries(parameters: readonly Parameter[], known: KnownThings): fc.Arbitrary<Query> {
  const declared = parameters.filter((parameter) => parameter.in === 'query');
  const names = declared.map(({ name }) => name);
  const right = declared.map(({ name, schema }) => fc.tuple(fc.constant(name), validTexts(schema, known)));
  const hostile = declared.map(({ name }) => fc.tuple(fc.constant(name), hostileTexts));
  const pairs = weighted(
    [4, fc.subarray(right).chain((chosen) => fc.tuple(...chosen))],
    [
      1,
      fc.array(fc.oneof(...right, ...hostile, fc.tuple(hostileTexts, hostileTexts)), {
        maxLength: 4,
      }),
    ],
  );
  const encoded = pairs.map((list: [string, string][]) => {
    const text = list
      .map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join('='))
      .join('&');
    const unknown = list.find(([name]) => !names.includes(name));
    const repeated = new Set(list.map(([name]) => name)).size < list.length;
    const wrong = unknown
      ? `query parameter ${JSON.stringify(unknown[0])}`
      : repeated
        ? 'repeated parameter'
        : undefined;
    return { text: text === '' ? '' : `?${text}`, wrong };
  });
  const broken = fc.constantFrom(...'? ?&&& ?= ?% ?%00 ?a[b]=c ?limit=1;cursor= ?limit ?+ ??'.split(' '));
  return weighted([9, encoded], [1, broken.map((text) => ({ text, wrong: undefined }))]);
}

interface Headers {
  readonly values: Record<string, string>;
  readonly wrong: string | undefined;
}

/** Generates API keys, idempotency keys, content types and other headers, mostly valid. */
function headers(known: KnownThings): fc.Arbitrary<Headers> {
  const visible = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 300,
  });
  const [good = ''] = known.keys;
  const key = weighted(
    [12, fc.constantFrom(...known.keys)],
    [1, fc.constantFrom(undefined, '', good.slice(1), `${good}, ${good}`, good.toUpperCase())],
    [1, visible],
  );
  const idempotency = weighted(
    [4, fc.constant(undefined)],
    [1, fc.constantFrom('a', 'b', 'c', '', ' ', 'a b', 'a, b', 'k'.repeat(255), 'k'.repeat(256))],
    [1, visible],
  );
  const type = weighted(
    [12, fc.constantFrom('application/json', 'application/json; charset=utf-8', 'Application/JSON')],
    [
      1,
      fc.constantFrom(
        undefined,
        '',
        'text/plain',
        'application/jsonp',
        ';;;',
        'a/b;c="',
        'multipart/form-data',
      ),
    ],
    [1, visible],
  );
  const other = weighted(
    [6, fc.constant({})],
    [
      1,
      fc.constantFrom<Record<string, string>>(
        { 'accept-encoding': 'br;q=1e9', accept: 'nothing/*' },
        { 'content-encoding': 'gzip' },
        { 'x-http-method-override': 'DELETE', 'x-forwarded-for': "'; --", forwarded: 'for=[::1' },
        { host: 'somebody.example', origin: 'null', cookie: 'a=b; '.repeat(500) },
        { range: 'bytes=0-', 'if-none-match': '*', 'if-modified-since': 'never' },
        { 'request-id': 'mine', traceparent: '00-x', 'x-device-token': 'dev_x', authorization: 'Bearer x' },
      ),
    ],
  );
  return fc.record({ key, idempotency, type, other }).map(({ key, idempotency, type, other }) => {
    const named = { 'x-api-key': key, 'idempotency-key': idempotency, 'content-type': type };
    const sent = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const isKnown = key !== undefined && known.keys.includes(key.trim());
    return { values: { ...Object.fromEntries(sent), ...other }, wrong: isKnown ? undefined : 'key' };
  });
}
