import fc from 'fast-check';
import { type OpenApi, type Operation, resolve } from '#test/support/http/openapi-document.ts';
import type { PlainRequest } from '#test/support/http/raw-http.ts';
import { addresses, queries } from './generated-addresses.ts';
import { bodies, noBody } from './generated-bodies.ts';
import { headers } from './generated-headers.ts';
import type { KnownThings } from './generated-texts.ts';

/** A generated request, with its operation and known fault. */
export interface GeneratedRequest extends PlainRequest {
  /** Name of the operation in the document: `POST /v1/messages/send`. */
  readonly operation: string;
  /** Reason why the server must refuse the request; undefined if it may accept it. */
  readonly wrong: string | undefined;
}

/** Requests to every operation of an OpenAPI document: some valid, most with one fault, some with many. */
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
