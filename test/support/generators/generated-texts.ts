import fc from 'fast-check';
import type { Schema } from '#test/support/http/openapi-document.ts';

/** Existing ids and numbers, with which generated requests are nearly valid. */
export interface KnownThings {
  readonly keys: readonly string[];
  readonly ids: readonly string[];
  readonly phoneNumbers: readonly string[];
  /** Pairs of a webhook and its delivery: an address with both is valid only if they belong together. */
  readonly deliveries: readonly { readonly id: string; readonly delivery_id: string }[];
}

/** Chooses one of several generators, with weights. */
export function weighted<T>(...choices: readonly (readonly [number, fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

const codePoints = fc
  .oneof(
    fc.integer({ min: 0, max: 0x2ff }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0, max: 0x10ffff }),
  )
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

/** Characters of several code points. */
const clusters = fc.constantFrom('👨‍👩‍👧', '🇩🇪', 'e\u0301', '각', 'क्षि', 'ก็', '1️⃣', '👋🏽', '\r\n');

/**
 * Any text of Unicode; the limits are numbers of characters. `fc.string` with such a unit would first make a table of
 * all characters, which takes 0.8 s of CPU.
 */
export const anyText = (limits: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc.array(weighted([9, codePoints], [1, clusters]), limits).map((characters) => characters.join(''));

/** Texts that have broken servers before. */
export const hostileTexts = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '\t', '\u0000', 'a\u0000b', '\ufeff', '\u2028', '\u202e'],
    ...['\ud83d', 'a\udc00', '\udc00\ud83d'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-0', '1e999'],
    ...["' OR 1=1--", '$1', '%s%n', '{{7*7}}', '../../etc/passwd', '..', '.', '/', '\\', '\r\nx: y', '<b>'],
    ...['+14155550100 ', '+14155550100\n', ' 14155550100', '+0', '+１４１５５５５０１００', 'é', '👨‍👩‍👧'],
    ...['msg_00000000000000000000000000', 'msg_7zzzzzzzzzzzzzzzzzzzzzzzzz', 'num_7zzzzzzzzzzzzzzzzzzzzzzzzz'],
    ...['num_00000000000000000000000000', 'num_8zzzzzzzzzzzzzzzzzzzzzzzzz', 'msg_', '_', 'a'.repeat(6_000)],
  ),
  anyText({ maxLength: 40 }),
);

/** Generates texts that a schema accepts. Ids and numbers exist in the service. */
export function validTexts(schema: Schema, known: KnownThings): fc.Arbitrary<string> {
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
    anyText({ minLength: schema.minLength ?? 0, maxLength: Math.min(maxLength, 40) }),
  );
}

/** Generates e-mail addresses: half of them from a few people, so that they repeat, and one of the greatest length. */
function emails(maxLength: number): fc.Arbitrary<string> {
  const domain = '@example.com';
  return fc.oneof(
    fc.constantFrom(`ada${domain}`, `ADA${domain}`, ` bob${domain} `),
    fc.nat().map((n) => `person${n}${domain}`),
    fc.constant(`${'a'.repeat(maxLength - domain.length)}${domain}`),
  );
}
