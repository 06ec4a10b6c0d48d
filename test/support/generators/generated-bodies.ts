import fc from 'fast-check';
import type { Schema } from '#test/support/http/openapi-document.ts';
import { hostileTexts, type KnownThings, validTexts, weighted } from './generated-texts.ts';

interface Body {
  readonly bytes: string | Uint8Array | undefined;
  readonly wrong: string | undefined;
}

export const noBody: Body = { bytes: undefined, wrong: undefined };

/** JSON as text, since JSON.stringify can't write much of the hostile input. */
type Json = string;

const hostileJson: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(
    ...'null true false 0 -0 1.5 1e999 -1e-999 14155550101 5 NaN undefined +1 01 .5 /**/1'.split(' '),
    ...String.raw`"\u0000" "\ud83d" "\ude00\ud83d" "\x41" " 'a' {} [] [[]] [,] {,} {"toJSON":1}`.split(' '),
    ...String.raw`{"a":"\u0000"} ["\udc00"] {"\u0000":1} {"__proto__":{"content":"x"}}`.split(' '),
    ...['{"constructor":{"prototype":{"x":1}}}', '9'.repeat(400), '"\u0000"', '"a\nb"', '', ' '],
  ),
  hostileTexts.map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.integer({ min: 1, max: 30_000 }).map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
  fc.integer({ min: 1, max: 2_000 }).map((levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`),
);

const hostileName = fc.oneof(
  fc.constantFrom(
    ...String.raw`"__proto__" "constructor" "hasOwnProperty" "toString" "" "\u0000" "\ud83d" "To" to`.split(
      ' ',
    ),
  ),
  hostileTexts.map((text) => JSON.stringify(text)),
);

/** Generates bodies for a schema: valid, with one fault, and mangled. */
export function bodies(schema: Schema, known: KnownThings): fc.Arbitrary<Body> {
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
  const object = weighted(
    [3, whole],
    [
      3,
      fc
        .tuple(whole, disturbance)
        .map(([pairs, [at, name, value]]) => pairs.toSpliced(at, at % 2, `${name}:${value}`)),
    ],
    [1, fc.subarray(properties).chain((some) => fc.tuple(...some.map(([name]) => pair(name, hostileJson))))],
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
  const sent = weighted([8, text], [2, mangled]);
  const given = sent.map((bytes) => ({ bytes, wrong: problemOf(bytes, schema) }));
  // Operations without a body are mostly requested without one, and sometimes with one.
  return weighted([1, fc.constant(noBody)], [properties.length > 0 ? 20 : 1, given]);
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

/** Validates a body independently of the server. @returns undefined if it may be valid */
function problemOf(bytes: string | Uint8Array, schema: Schema): string | undefined {
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes));
    value = JSON.parse(text);
  } catch {
    // A byte order mark may be accepted or refused.
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
