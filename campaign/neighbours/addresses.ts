import { type KnownValues, largestValue, propertiesOf, type Schema } from './schema.ts';

/** The head of a request without its credential: a path and headers. */
export interface Address {
  readonly shape: string;
  readonly path: string;
  readonly headers: readonly string[];
}

/** Node accepts 16 KB of request head. */
const roomBytes = 15_000;

/** Requests to a route with expensive queries, and one with a plain query. */
export function addresses(path: string, query: Schema | undefined, known: KnownValues): Address[] {
  const address = (shape: string, search: string): Address => ({
    shape,
    path: search === '' ? path : `${path}?${search}`,
    headers: [],
  });
  const room = Math.max(0, roomBytes - path.length);
  const parameters = propertiesOf(query).map(
    ([name, property]) => [name, encodeURIComponent(String(largestValue(property, name, known)))] as const,
  );
  const limit = parameters.find(([name]) => name === 'limit');
  const pairs = parameters.map(([name, value]) => `${name}=${value}`);
  const [first = 'a'] = parameters.map(([name]) => name);
  return [
    address('plain address', ''),
    ...(pairs.length > 1 ? [address('all parameters', pairs.join('&'))] : []),
    ...parameters.map(([name, value]) =>
      address(
        `parameter ${name}`,
        [`${name}=${value}`, ...(limit && limit[0] !== name ? [`limit=${limit[1]}`] : [])].join('&'),
      ),
    ),
    address('longest parameter', `${first}=${'a'.repeat(room - first.length)}`),
    address('escaped parameter', `${first}=${'%C3%A9'.repeat(room / 6)}`),
    address('most parameters', 'a&'.repeat(room / 2)),
    address('one parameter repeated', `${first}=1&`.repeat(room / (first.length + 3))),
  ];
}

export function longHeaders(path: string): Address[] {
  const room = roomBytes - path.length;
  const header = (name: string, item: string): Address => ({
    shape: `longest ${name}`,
    path,
    headers: [`${name}: ${item.repeat((room - 200) / item.length)}`],
  });
  return [
    header('cookie', 'a=b; '),
    header('accept', 'text/htm,'),
    header('accept-encoding', 'br;q=0.1,'),
    header('if-none-match', '"a",'),
    header('range', '0-0,'),
  ];
}

export function unknownAddresses(): (Address & { readonly method: string })[] {
  const plain = (method: string, shape: string, path: string) => ({ method, shape, path, headers: [] });
  return [
    plain('GET', 'most segments', `/${'a/'.repeat(roomBytes / 2)}`),
    plain('GET', 'most segments below /v1', `/v1/${'a/'.repeat(roomBytes / 2)}`),
    plain('GET', 'longest segment', `/${'a'.repeat(roomBytes)}`),
    plain('GET', 'longest escaped segment', `/${'%C3%A9'.repeat(roomBytes / 6)}`),
    plain('GET', 'most slashes', '/'.repeat(roomBytes)),
    plain('GET', 'longest query', `/nothing?${'a&'.repeat(roomBytes / 2)}`),
    plain('PATCH', 'unknown method', '/v1/messages/send'),
  ];
}

export function pathOf(route: string, parameter: (name: string) => string): string {
  return route.replaceAll(/:(\w+)/g, (_, name: string) => parameter(name));
}

/** The path with its last parameter as long as a request's head allows; undefined for a route without parameters. */
export function longestPath(route: string, parameter: (name: string) => string): string | undefined {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const last = names.at(-1);
  return last === undefined
    ? undefined
    : pathOf(route, (name) => (name === last ? 'a'.repeat(roomBytes) : parameter(name)));
}
