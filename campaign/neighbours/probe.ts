import { type Address, addresses, longestPath, longHeaders, pathOf, unknownAddresses } from './addresses.ts';
import { type Body, formBodies, jsonBodies, noBody } from './bodies.ts';
import type { Caller } from './caller.ts';
import type { Route } from './route-table.ts';

/** A request to measure: a route, a caller and a shape. */
export interface Probe {
  readonly caller: Caller;
  /** The name of the route: `POST /v1/messages/send`, or `GET (no route)`. */
  readonly route: string;
  readonly shape: string;
  readonly request: () => Buffer;
}

/** The body schema of the device protocol. The route table has none for it, and the protocol is frozen. */
const deviceBody = {
  type: 'object',
  properties: Object.fromEntries(
    ['from', 'text', 'session', 'last', 'last_status', 'last_error', 'id', 'status', 'error', 'token'].map(
      (name) => [name, { type: 'string', maxLength: 100 }],
    ),
  ),
};

/** All expensive requests of a caller to a route. */
export function probesOf(route: Route, caller: Caller, port: number): Probe[] {
  const parameter = (name: string) => caller.parameter(route, name);
  const path = pathOf(route.path, parameter);
  const probe = (address: Address, body: Body, shape: string): Probe => ({
    caller,
    route: `${route.method} ${route.path}`,
    shape,
    request: () => requestBytes({ method: route.method, address, body, caller, port, route }),
  });
  const longest = longestPath(route.path, parameter);
  const heads = [
    ...addresses(path, route.query, caller.known),
    ...(longest === undefined ? [] : [{ shape: 'longest address', path: longest, headers: [] }]),
    ...(caller.isStranger ? longHeaders(path) : []),
  ];
  const plain = { shape: '', path, headers: [] };
  return [
    ...heads.map((address) => probe(address, noBody, address.shape)),
    ...bodiesOf(route, caller).map((body) => probe(plain, body, body.shape)),
  ];
}

/** The same request with the credential and ids of another caller of its kind; undefined where there is none. */
export function probeAs(
  { caller: { kind }, route: name, shape }: Probe,
  callers: readonly Caller[],
  routes: readonly Route[],
  port: number,
): Probe | undefined {
  const caller = callers.find((one) => one.kind === kind);
  const route = routes.find(({ method, path }) => `${method} ${path}` === name);
  return caller && route && probesOf(route, caller, port).find((probe) => probe.shape === shape);
}

export function unroutedProbes(caller: Caller, port: number): Probe[] {
  return unknownAddresses().map((address) => ({
    caller,
    route: `${address.method} (no route)`,
    shape: address.shape,
    request: () =>
      requestBytes({ method: address.method, address, body: noBody, caller, port, route: undefined }),
  }));
}

/** Expensive bodies for a route; none for GET. */
export function bodiesOf(route: Route, caller: Caller): Body[] {
  if (route.method === 'GET') return [];
  if (route.audience === 'page') return formBodies(route.bodyLimitBytes);
  const schema = route.audience === 'device' ? deviceBody : route.body;
  return jsonBodies(schema, caller.known, route.bodyLimitBytes);
}

interface RequestParts {
  readonly method: string;
  readonly address: Address;
  readonly body: Body;
  readonly caller: Caller;
  readonly port: number;
  readonly route: Route | undefined;
}

export function requestBytes({ method, address, body, caller, port, route }: RequestParts): Buffer {
  const content = body.bytes();
  const isPage = route === undefined || route.audience === 'page';
  const own = new Set(address.headers.map((header) => header.split(':')[0]));
  const lines = [
    `${method} ${address.path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'sec-fetch-site: same-origin',
    ...address.headers,
    ...caller.headers.filter((header) => !own.has(header.split(':')[0])),
    ...(isPage && !own.has('accept') ? ['accept: text/html'] : []),
    ...(body.contentType === '' ? [] : [`content-type: ${body.contentType}`]),
    ...(content.length === 0 && method === 'GET' ? [] : [`content-length: ${content.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]);
}
