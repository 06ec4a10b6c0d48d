import fc from 'fast-check';
import { field } from './api-client.ts';
import type { PlainRequest } from './raw-http.ts';

/** A request that was made up, and what is known of it. */
export interface GeneratedRequest extends PlainRequest {
  /** `POST /v1/messages/send`, as the document names it. */
  readonly operation: string;
  /** Why it can't be taken, where that is certain; undefined where it may be taken or refused. */
  readonly wrong: string | undefined;
}

/** What exists on the server, for requests that are nearly right. */
export interface KnownThings {
  readonly keys: readonly string[];
  readonly ids: readonly string[];
  readonly phoneNumbers: readonly string[];
  /** Webhooks and deliveries of theirs: an address that names both is right only with one that belongs to the other. */
  readonly deliveries: readonly { readonly id: string; readonly delivery_id: string }[];
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Requests to every operation of an OpenAPI document: some right, most with one thing wrong, some with many. */
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

function resolve(document: OpenApi, schema: Schema = {}): Schema {
  if (schema.$ref === undefined) return schema;
  return field(document, schema.$ref.slice(2).replaceAll('/', '.')) as Schema;
}

/** Texts that have broken servers before. */
const hostileTexts = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      ' ',
      '\t',
      '\u0000',
      'a\u0000b',
      '\ufeff',
      '\u2028',
      '\u202e',
      '\ud83d',
      'a\udc00',
      '\udc00\ud83d',
    ],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-0', '1e999'],
    ...["' OR 1=1--", '$1', '%s%n', '{{7*7}}', '../../etc/passwd', '..', '.', '/', '\\', '\r\nx: y', '<b>'],
    ...['+14155550100 ', '+14155550100\n', ' 14155550100', '+0', '+１４１５５５５０１００', 'é', '👨‍👩‍👧'],
    ...['msg_00000000000000000000000000', 'msg_7zzzzzzzzzzzzzzzzzzzzzzzzz', 'num_7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ...['num_00000000000000000000000000', 'num_8zzzzzzzzzzzzzzzzzzzzzzzzz', 'msg_', '_', 'a'.repeat(6_000)],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

/** A path with ids of all kinds. */
function addresses(path: string, known: KnownThings): fc.Arbitrary<string> {
  const ids = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...known.ids) },
    { weight: 2, arbitrary: hostileTexts.map((text) => encodeURIComponent(text.toWellFormed())) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('%', '%zz', '%C3%28', '%00', '%2F', '%252F', '..', ';a=b', '%F0%9F'),
    },
  );
  const some = fc
    .tuple(...path.split('/').map((part) => (part.startsWith('{') ? ids : fc.constant(part))))
    .map((parts) => parts.join('/'));
  if (!path.includes('{delivery_id}')) return some;
  const right = fc
    .constantFrom(...known.deliveries)
    .map(({ id, delivery_id }) => path.replace('{id}', id).replace('{delivery_id}', delivery_id));
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: some });
}

interface Query {
  readonly text: string;
  readonly wrong: string | undefined;
}

function queries(parameters: readonly Parameter[], known: KnownThings): fc.Arbitrary<Query> {
  const declared = parameters.filter((parameter) => parameter.in === 'query');
  const names = declared.map(({ name }) => name);
  const right = declared.map(({ name, schema }) => fc.tuple(fc.constant(name), validTexts(schema, known)));
  const hostile = declared.map(({ name }) => fc.tuple(fc.constant(name), hostileTexts));
  const pairs = fc.oneof(
    { weight: 4, arbitrary: fc.subarray(right).chain((chosen) => fc.tuple(...chosen)) },
    {
      weight: 1,
      arbitrary: fc.array(fc.oneof(...right, ...hostile, fc.tuple(hostileTexts, hostileTexts)), {
        maxLength: 4,
      }),
    },
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
  const broken = fc.constantFrom(
    '?',
    '?&&&',
    '?=',
    '?%',
    '?%00',
    '?a[b]=c',
    '?limit=1;cursor=',
    '?limit',
    '?+',
    '??',
  );
  return fc.oneof(
    { weight: 9, arbitrary: encoded },
    { weight: 1, arbitrary: broken.map((text) => ({ text, wrong: undefined })) },
  );
}

interface Headers {
  readonly values: Record<string, string>;
  readonly wrong: string | undefined;
}

function headers(known: KnownThings): fc.Arbitrary<Headers> {
  const visible = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 300,
  });
  const [good = ''] = known.keys;
  const key = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...known.keys) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, '', good.slice(1), `${good}, ${good}`, good.toUpperCase()),
    },
    { weight: 1, arbitrary: visible },
  );
  const idempotency = fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('a', 'b', 'c', '', ' ', 'a b', 'a, b', 'k'.repeat(255), 'k'.repeat(256)),
    },
    { weight: 1, arbitrary: visible },
  );
  const type = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'Application/JSON'),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        undefined,
        '',
        'text/plain',
        'application/jsonp',
        ';;;',
        'a/b;c="',
        'multipart/form-data',
      ),
    },
    { weight: 1, arbitrary: visible },
  );
  const other = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'accept-encoding': 'br;q=1e9', accept: 'nothing/*' },
        { 'content-encoding': 'gzip' },
        { 'x-http-method-override': 'DELETE', 'x-forwarded-for': "'; --", forwarded: 'for=[::1' },
        { host: 'somebody.example', origin: 'null', cookie: 'a=b; '.repeat(500) },
        { range: 'bytes=0-', 'if-none-match': '*', 'if-modified-since': 'never' },
        { 'request-id': 'mine', traceparent: '00-x', 'x-device-token': 'dev_x', authorization: 'Bearer x' },
      ),
    },
  );
  return fc.record({ key, idempotency, type, other }).map(({ key, idempotency, type, other }) => {
    const named = { 'x-api-key': key, 'idempotency-key': idempotency, 'content-type': type };
    const sent = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const isKnown = key !== undefined && known.keys.includes(key.trim());
    return { values: { ...Object.fromEntries(sent), ...other }, wrong: isKnown ? undefined : 'key' };
  });
}

interface Body {
  readonly bytes: string | Uint8Array | undefined;
  readonly wrong: string | undefined;
}

const noBody: Body = { bytes: undefined, wrong: undefined };

/** JSON as it is written, since much of what is hostile can't be had from JSON.stringify. */
type Json = string;

const hostileJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(
    ...['null', 'true', 'false', '0', '-0', '1.5', '1e999', '-1e-999', '9'.repeat(400), '14155550101', '5'],
    ...[
      '"\\u0000"',
      '"\\ud83d"',
      '"\\ude00\\ud83d"',
      '"\u0000"',
      '"a\nb"',
      '"\\x41"',
      '"',
      '',
      ' ',
      'NaN',
      "'a'",
    ],
    ...[
      '{}',
      '[]',
      '[[]]',
      '{"__proto__":{"content":"x"}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '{"toJSON":1}',
    ],
    ...[
      '{"a":"\\u0000"}',
      '["\\udc00"]',
      '{"\\u0000":1}',
      '[,]',
      '{,}',
      'undefined',
      '+1',
      '01',
      '.5',
      '/**/1',
    ],
  ),
  hostileTexts.map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.integer({ min: 1, max: 30_000 }).map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
  fc.integer({ min: 1, max: 2_000 }).map((levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`),
);

const hostileName = fc.oneof(
  fc.constantFrom(
    '"__proto__"',
    '"constructor"',
    '"hasOwnProperty"',
    '"toString"',
    '""',
    '"\\u0000"',
    '"\\ud83d"',
    '"To"',
    'to',
  ),
  hostileTexts.map((text) => JSON.stringify(text)),
);

function bodies(schema: Schema, known: KnownThings): fc.Arbitrary<Body> {
  const properties = Object.entries(schema.properties ?? {});
  const pair = (name: string, value: fc.Arbitrary<Json>) =>
    value.map((json) => `${JSON.stringify(name)}:${json}`);
  const required = properties.map(([name, part]) => {
    const right = pair(name, validJson(part, known));
    return schema.required?.includes(name) ? right : fc.option(right, { nil: undefined, freq: 2 });
  });
  const whole = fc.tuple(...required).map((pairs) => pairs.filter((text) => text !== undefined));
  const names = properties.map(([name]) => JSON.stringify(name));
  const disturbance = fc.tuple(
    fc.nat(5),
    fc.oneof(hostileName, ...names.map((name) => fc.constant(name))),
    hostileJson,
  );
  const object = fc.oneof(
    { weight: 3, arbitrary: whole },
    {
      weight: 3,
      arbitrary: fc
        .tuple(whole, disturbance)
        .map(([pairs, [at, name, value]]) => pairs.toSpliced(at, at % 2, `${name}:${value}`)),
    },
    {
      weight: 1,
      arbitrary: fc
        .subarray(properties)
        .chain((some) => fc.tuple(...some.map(([name]) => pair(name, hostileJson)))),
    },
  );
  const text = object.map((pairs: string[]) => `{${pairs.join(',')}}`);
  const mangled = fc.oneof(
    fc
      .tuple(text, fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([json, share]) => json.slice(0, json.length * share)),
    text.map((json) => `${json}${json}`),
    text.map((json) => `[${json}]`),
    text.map((json) => `\ufeff${json}`),
    text.map((json) => `${' '.repeat(300_000)}${json}`),
    text.map((json) => new Uint8Array(Buffer.from(json, 'utf16le'))),
    text.map((json) => Uint8Array.from([...Buffer.from(json.slice(0, -2)), 0xed, 0xa0, 0x80, 0x22, 0x7d])),
    hostileJson,
    fc.uint8Array({ maxLength: 60 }),
  );
  const sent = fc.oneof({ weight: 8, arbitrary: text }, { weight: 2, arbitrary: mangled });
  const given = sent.map((bytes) => ({ bytes, wrong: problemOf(bytes, schema) }));
  // An operation without a body is mostly asked without one.
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(noBody) },
    { weight: properties.length > 0 ? 20 : 1, arbitrary: given },
  );
}

/** A second opinion on a body, which knows nothing of the server's way to check: undefined where it may be right. */
function problemOf(bytes: string | Uint8Array, schema: Schema): string | undefined {
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes));
    value = JSON.parse(text);
  } catch {
    // A byte order mark may be taken or refused.
    return bytes[0] === '\ufeff' ? undefined : 'no JSON in UTF-8';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no object';
  const properties = schema.properties ?? {};
  for (const [name, part] of Object.entries(value)) {
    const wanted = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (wanted === undefined) return `field ${JSON.stringify(name)}`;
    const kinds = (wanted.anyOf ?? [wanted]).map((kind) => kind.type ?? 'string');
    if (!kinds.includes(part === null ? 'null' : Array.isArray(part) ? 'array' : typeof part))
      return `type of ${name}`;
    if (Array.isArray(part) && !part.every((one) => wanted.items?.enum?.includes(one) ?? true))
      return `words of ${name}`;
    if (typeof part === 'string' && (part.includes('\u0000') || !part.isWellFormed()))
      return `text of ${name}`;
    if (wanted.pattern !== undefined && !new RegExp(wanted.pattern).test(String(part)))
      return `form of ${name}`;
    if (wanted.enum !== undefined && !wanted.enum.includes(String(part))) return `word of ${name}`;
  }
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  return missing === undefined ? undefined : `missing ${missing}`;
}

function validTexts(schema: Schema, known: KnownThings): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer')
    return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1e9 }).map(String);
  if (schema.pattern?.startsWith('^\\+')) return fc.constantFrom(...known.phoneNumbers);
  if (schema.type === 'boolean') return fc.constantFrom('true', 'false');
  const maxLength = schema.maxLength ?? 100;
  const [example = ''] = schema.examples ?? [];
  if (example.includes('@')) return emails(maxLength);
  if (example.startsWith('https:')) return fc.nat(20).map((n) => `https://receiver.invalid/${n}`);
  if (/^\d{4}-/.test(example)) return fc.constantFrom(example, '2026-01-01T00:00:00+01:00');
  return fc.oneof(
    fc.constantFrom(...known.ids, ...known.phoneNumbers, 'a'.repeat(maxLength), '😀'.repeat(maxLength)),
    fc.string({ unit: 'grapheme', minLength: schema.minLength ?? 0, maxLength: Math.min(maxLength, 40) }),
  );
}

/** Half of them of few people, so that they meet; one of the longest that is taken. */
function emails(maxLength: number): fc.Arbitrary<string> {
  const domain = '@example.com';
  return fc.oneof(
    fc.constantFrom(`ada${domain}`, `ADA${domain}`, ` bob${domain} `),
    fc.nat().map((n) => `person${n}${domain}`),
    fc.constant(`${'a'.repeat(maxLength - domain.length)}${domain}`),
  );
}

function validJson(schema: Schema, known: KnownThings): fc.Arbitrary<Json> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((part) => validJson(part, known)));
  if (schema.type === 'null') return fc.constant('null');
  if (schema.type === 'boolean') return fc.constantFrom('true', 'false');
  if (schema.type === 'array') {
    const item = validJson(schema.items ?? {}, known);
    return fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => `[${items.join(',')}]`);
  }
  const text = validTexts(schema, known);
  return schema.type === 'integer' ? text : text.map((value) => JSON.stringify(value));
}
