import type { Request } from '../http.ts';
import type { Caller } from './caller.ts';
import { nameOf, type Route } from './route-table.ts';
import { type Shape, shapesOf, unroutedShapes } from './shapes.ts';

/** A request to measure: a route, a caller and a shape. */
export interface Probe {
  readonly caller: Caller;
  /** The name of the route: `POST /v1/messages/send`, or `GET (no route)`. */
  readonly route: string;
  readonly shape: string;
  readonly request: () => Request;
}

/** All expensive requests of a caller to a route. The first one is plain. */
export function probesOf(route: Route, caller: Caller): Probe[] {
  const parameter = (name: string) => caller.parameter(route, name);
  return shapesOf(route, parameter, caller.known, caller.isStranger).map((shape) => ({
    ...{ caller, route: nameOf(route), shape: shape.shape },
    request: () => requestOf(route.method, shape, caller, route.audience === 'page'),
  }));
}

/** The same request with the credential and ids of another caller of its kind; undefined if there is none. */
export function probeAs(
  probe: Probe,
  callers: readonly Caller[],
  routes: readonly Route[],
): Probe | undefined {
  const caller = callers.find(({ kind }) => kind === probe.caller.kind);
  const route = routes.find((one) => nameOf(one) === probe.route);
  return caller && route && probesOf(route, caller).find(({ shape }) => shape === probe.shape);
}

export function unroutedProbes(caller: Caller): Probe[] {
  return unroutedShapes.map((shape) => ({
    ...{ caller, route: `${shape.method} (no route)`, shape: shape.shape },
    request: () => requestOf(shape.method, shape, caller, true),
  }));
}

function requestOf(
  method: string,
  { path, headers, body }: Pick<Shape, 'path' | 'headers' | 'body'>,
  caller: Caller,
  isPage: boolean,
): Request {
  const accept = isPage ? { accept: 'text/html' } : {};
  return {
    ...{ method, path },
    headers: { 'sec-fetch-site': 'same-origin', ...accept, ...caller.headers, ...headers },
    ...(body ? { body: Buffer.from(body()) } : {}),
  };
}

export function describeProbe({ caller, route, shape }: Probe): string {
  return `${caller.kind}, ${route}, ${shape}`;
}
