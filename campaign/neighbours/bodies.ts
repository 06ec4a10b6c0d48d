import { isArray, itemOf, type KnownValues, largestObject, propertiesOf, type Schema } from './schema.ts';

export interface Body {
  readonly shape: string;
  readonly contentType: string;
  /** Creates the bytes when they are needed, because all bodies together would fill the memory. */
  readonly bytes: () => Buffer;
}

export const noBody: Body = { shape: 'no body', contentType: '', bytes: () => Buffer.alloc(0) };

/** Longer than any route's limit, to measure how the rest of a refused body is handled. */
const overLimitBytes = 1024 * 1024;

export function jsonBodies(schema: Schema | undefined, known: KnownValues, limitBytes: number): Body[] {
  const valid = largestObject(schema, known);
  const json = (shape: string, bytes: () => Buffer): Body => ({
    shape,
    contentType: 'application/json',
    bytes,
  });
  const names = propertiesOf(schema).map(([name]) => name);
  const text = textField(valid) ?? names[0] ?? 'a';
  const withField = (name: string, fill: (room: number) => string) => () => {
    const rest = JSON.stringify({ ...valid, [name]: '#' }).split('"#"');
    const room = limitBytes - Buffer.byteLength(rest.join(''));
    return Buffer.from(rest.join(fill(Math.max(8, room))));
  };
  const arrays = propertiesOf(schema).filter(([, property]) => isArray(property));
  return [
    ...(schema ? [json('largest valid body', () => Buffer.from(JSON.stringify(valid)))] : []),
    json(
      'longest text',
      withField(text, (room) => `"${'a'.repeat(room - 2)}"`),
    ),
    json(
      'longest escaped text',
      withField(text, (room) => `"${'\\u00e9'.repeat((room - 2) / 6)}"`),
    ),
    json(
      'array in a text field',
      withField(text, (room) => repeated('1', room)),
    ),
    ...arrays.flatMap(([name, property]) => [
      json(
        `longest array in ${name}`,
        withField(name, (room) => repeated(JSON.stringify(itemOf(property, known)), room)),
      ),
      json(
        `longest array of wrong items in ${name}`,
        withField(name, (room) => repeated('"x"', room)),
      ),
    ]),
    json('most fields', () => mostFields(limitBytes)),
    json('deepest arrays', () => Buffer.from('['.repeat(limitBytes / 2) + ']'.repeat(limitBytes / 2))),
    json('deepest objects', () => {
      const levels = Math.floor((limitBytes - 2) / 6);
      return Buffer.from(`${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`);
    }),
    json('body over the limit', () => Buffer.alloc(limitBytes + overLimitBytes, 'a')),
  ];
}

export function formBodies(limitBytes: number): Body[] {
  const form = (shape: string, text: () => string): Body => ({
    shape,
    contentType: 'application/x-www-form-urlencoded',
    bytes: () => Buffer.from(text()),
  });
  const names = ['email', 'password', 'name', 'token', 'go'];
  const share = Math.floor(limitBytes / names.length) - 12;
  return [
    form('most fields', () => 'a=&'.repeat(limitBytes / 3)),
    form('longest fields', () => names.map((name) => `${name}=${'a'.repeat(share)}`).join('&')),
    form('longest escaped fields', () =>
      names.map((name) => `${name}=${'%C3%A9'.repeat(share / 6)}`).join('&'),
    ),
    form('body over the limit', () => 'a'.repeat(limitBytes + overLimitBytes)),
  ];
}

/** Returns a JSON array that repeats an item, of at most `roomBytes`. */
function repeated(item: string, roomBytes: number): string {
  const count = Math.max(1, Math.floor((roomBytes - 2) / (item.length + 1)));
  return `[${Array.from({ length: count }, () => item).join(',')}]`;
}

function mostFields(limitBytes: number): Buffer {
  const fields: string[] = [];
  for (let [bytes, index] = [2, 0]; ; index += 1) {
    const field = `"${index.toString(36)}":0`;
    bytes += field.length + 1;
    if (bytes > limitBytes) return Buffer.from(`{${fields.join(',')}}`);
    fields.push(field);
  }
}

function textField(valid: Readonly<Record<string, unknown>>): string | undefined {
  return Object.entries(valid)
    .flatMap(([name, value]) => (typeof value === 'string' ? [{ name, length: value.length }] : []))
    .toSorted((a, b) => b.length - a.length)[0]?.name;
}
