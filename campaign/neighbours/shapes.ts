import type { Route } from './route-table.ts';
import { isArray, itemOf, type KnownValues, largestObject, largestValue, propertiesOf } from './schema.ts';

/** A request that is expensive by its path, a header or its body. Bodies are created when they are needed. */
export interface Shape {
  readonly shape: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: () => string;
}

/** Node accepts 16 KB of request head. */
const roomBytes = 15_000;

/** Longer than any route's limit, to measure how the rest of a refused body is handled. */
const overLimitBytes = 1024 * 1024;

/** The expensive shapes of requests to a route, and a plain one. */
export function shapesOf(
  route: Route,
  parameter: (name: string) => string,
  known: KnownValues,
  withHeaders: boolean,
): Shape[] {
  const path = pathOf(route.path, parameter);
  const last = [...route.path.matchAll(/:(\w+)/g)].at(-1)?.[1];
  const longest = (name: string) => (name === last ? 'a'.repeat(roomBytes) : parameter(name));
  const bodies =
    route.method === 'GET' ? {} : route.audience === 'page' ? formBodies(route) : jsonBodies(route, known);
  const contentType = route.audience === 'page' ? 'application/x-www-form-urlencoded' : 'application/json';
  return [
    { shape: 'plain address', path },
    ...queries(route, path, known).map(([shape, query]) => ({ shape, path: `${path}?${query}` })),
    ...(last === undefined ? [] : [{ shape: 'longest address', path: pathOf(route.path, longest) }]),
    ...(withHeaders ? longHeaders(path) : []),
    ...Object.entries(bodies).map(([shape, body]) => ({
      ...{ shape, path, body },
      headers: { 'content-type': contentType },
    })),
  ];
}

export function pathOf(route: string, parameter: (name: string) => string): string {
  return route.replaceAll(/:(\w+)/g, (_, name: string) => parameter(name));
}

/** Paths that no route has, with their methods. */
export const unroutedShapes: readonly (Shape & { readonly method: string })[] = [
  { method: 'GET', shape: 'most segments', path: `/${'a/'.repeat(roomBytes / 2)}` },
  { method: 'GET', shape: 'most segments below /v1', path: `/v1/${'a/'.repeat(roomBytes / 2)}` },
  { method: 'GET', shape: 'longest segment', path: `/${'a'.repeat(roomBytes)}` },
  { method: 'GET', shape: 'longest escaped segment', path: `/${'%C3%A9'.repeat(roomBytes / 6)}` },
  { method: 'GET', shape: 'most slashes', path: '/'.repeat(roomBytes) },
  { method: 'GET', shape: 'longest query', path: `/nothing?${'a&'.repeat(roomBytes / 2)}` },
  { method: 'PATCH', shape: 'unknown method', path: '/v1/messages/send' },
];

function queries({ query }: Route, path: string, known: KnownValues): (readonly [string, string])[] {
  const room = Math.max(0, roomBytes - path.length);
  const pairs = propertiesOf(query).map(([name, property]) => ({
    name,
    pair: `${name}=${encodeURIComponent(String(largestValue(property, name, known)))}`,
  }));
  const limit = pairs.filter(({ name }) => name === 'limit');
  const all = pairs.map(({ pair }) => pair).join('&');
  const first = pairs[0]?.name ?? 'a';
  return [
    ...(pairs.length > 1 ? [['all parameters', all] as const] : []),
    ...pairs.map((one) => {
      const both = [one, ...limit.filter((other) => other !== one)];
      return [`parameter ${one.name}`, both.map(({ pair }) => pair).join('&')] as const;
    }),
    ['longest parameter', `${first}=${'a'.repeat(room - first.length)}`],
    ['escaped parameter', `${first}=${'%C3%A9'.repeat(room / 6)}`],
    ['most parameters', 'a&'.repeat(room / 2)],
    ['one parameter repeated', `${first}=1&`.repeat(room / (first.length + 3))],
  ];
}

const repeatedItems = {
  cookie: 'a=b; ',
  accept: 'text/htm,',
  'accept-encoding': 'br;q=0.1,',
  'if-none-match': '"a",',
  range: '0-0,',
};

function longHeaders(path: string): Shape[] {
  const room = roomBytes - path.length - 200;
  return Object.entries(repeatedItems).map(([name, item]) => ({
    ...{ shape: `longest ${name}`, path },
    headers: { [name]: item.repeat(room / item.length).trim() },
  }));
}

type Bodies = Readonly<Record<string, () => string>>;

/** The fields of the device protocol. The route table has no schema for its bodies, and the protocol is frozen. */
const deviceFields = [
  ...['from', 'text', 'session', 'last', 'last_status', 'last_error', 'id', 'status', 'error', 'token'],
];
const deviceBody = {
  properties: Object.fromEntries(deviceFields.map((name) => [name, { type: 'string', maxLength: 100 }])),
};

function jsonBodies({ audience, body, body_limit_bytes: limit }: Route, known: KnownValues): Bodies {
  const schema = audience === 'device' ? deviceBody : body;
  const valid = largestObject(schema, known);
  const text = longestTextField(valid) ?? propertiesOf(schema)[0]?.[0] ?? 'a';
  const inField = (field: string, fill: (room: number) => string) => () => {
    const [before = '', after = ''] = JSON.stringify({ ...valid, [field]: '#' }).split('"#"');
    return before + fill(Math.max(8, limit - Buffer.byteLength(before + after))) + after;
  };
  const arrays = propertiesOf(schema).filter(([, property]) => isArray(property));
  return {
    'largest valid body': () => JSON.stringify(valid),
    'longest text': inField(text, (room) => `"${'a'.repeat(room - 2)}"`),
    'longest escaped text': inField(text, (room) => `"${'\\u00e9'.repeat((room - 2) / 6)}"`),
    'array in a text field': inField(text, (room) => arrayOf('1', room)),
    ...Object.fromEntries(
      arrays.flatMap(([name, property]) => [
        [
          `longest array in ${name}`,
          inField(name, (room) => arrayOf(JSON.stringify(itemOf(property, known)), room)),
        ],
        [`longest array of wrong items in ${name}`, inField(name, (room) => arrayOf('"x"', room))],
      ]),
    ),
    'most fields': () => mostFields(limit),
    'deepest arrays': () => '['.repeat(limit / 2) + ']'.repeat(limit / 2),
    'deepest objects': () => `${'{"a":'.repeat((limit - 2) / 6)}{}${'}'.repeat((limit - 2) / 6)}`,
    'body over the limit': () => 'a'.repeat(limit + overLimitBytes),
  };
}

const formFields = ['email', 'password', 'name', 'token', 'go'];

function formBodies({ body_limit_bytes: limit }: Route): Bodies {
  const share = Math.floor(limit / formFields.length) - 12;
  return {
    'most fields': () => 'a=&'.repeat(limit / 3),
    'longest fields': () => formFields.map((name) => `${name}=${'a'.repeat(share)}`).join('&'),
    'longest escaped fields': () =>
      formFields.map((name) => `${name}=${'%C3%A9'.repeat(share / 6)}`).join('&'),
    'body over the limit': () => 'a'.repeat(limit + overLimitBytes),
  };
}

/** Returns a JSON array that repeats an item, of at most `roomBytes`. */
function arrayOf(item: string, roomBytes: number): string {
  const count = Math.max(1, Math.floor((roomBytes - 2) / (item.length + 1)));
  return `[${Array(count).fill(item).join(',')}]`;
}

function mostFields(limitBytes: number): string {
  const fields: string[] = [];
  for (let [bytes, index] = [2, 0]; ; index += 1) {
    const field = `"${index.toString(36)}":0`;
    bytes += field.length + 1;
    if (bytes > limitBytes) return `{${fields.join(',')}}`;
    fields.push(field);
  }
}

function longestTextField(valid: Readonly<Record<string, unknown>>): string | undefined {
  const lengthOf = (name: string) => String(valid[name]).length;
  const texts = Object.keys(valid).filter((name) => typeof valid[name] === 'string');
  return texts.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
}
