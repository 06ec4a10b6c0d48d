import { type TObject, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError, invalid, unreadable } from '#server/platform/app-error.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';
import { decodePercent } from '#server/platform/text.ts';
import { jsonDepthMax, queryMaxCharacters, queryParametersMax } from './limits.ts';
import { fieldError, shortenName, validationError } from './validation-error.ts';

/** Schema of a form or a device's JSON object: the named fields are optional texts, and other fields are ignored. */
export function textFieldsSchema(...names: readonly string[]): TObject {
  return Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())])));
}

export type BodyValidator = (body: unknown) => void;

/**
 * Refuses U+0000 and lone surrogates anywhere in a body, because PostgreSQL or a receiver could not store them
 * (specification section 2.1).
 * @param param the top-level field of the value
 */
export function validateStrings(value: unknown, param?: string, depth = 0): void {
  if (depth > jsonDepthMax)
    throw fieldError(param, `is nested too deeply. Send at most ${jsonDepthMax} levels`);
  if (typeof value === 'string') {
    if (value.includes('\u0000'))
      throw fieldError(param, 'contains the character U+0000, which no phone can show. Leave it out');
    if (!value.isWellFormed())
      throw fieldError(param, 'contains half of a surrogate pair. Send well-formed Unicode');
  } else if (typeof value === 'object' && value !== null) {
    // Object.entries would create an array per field; every request runs this loop.
    for (const name in value) {
      const within = param ?? (Array.isArray(value) ? undefined : name);
      validateStrings(name, within, depth + 1);
      validateStrings(value[name as keyof typeof value], within, depth + 1);
    }
  }
}

/** Compiles the validator of a body's schema. Its error names the field and the rule. */
export function compileBodyValidator(schema: TSchema): BodyValidator {
  const validator = Compile(schema);
  return (body) => {
    if (validator.Check(body)) return;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw unreadable('The body must be a JSON object, sent with Content-Type: application/json.');
    }
    throw validationError(schema, body);
  };
}

/** @param url the URL as received, because the parsed query does not show which text could not be decoded */
export type QueryValidator = (query: unknown, url: string) => Readonly<Record<string, unknown>>;

/**
 * Compiles the validator of a query string (specification section 4.3). It refuses an unknown, repeated or malformed
 * parameter by name, so that no filter is silently ignored.
 */
export function compileQueryValidator(schema: TObject): QueryValidator {
  const validator = Compile(schema);
  const known = Object.keys(schema.properties);
  return (query, url) => {
    if (query === excessiveQuery) throw excessive(url);
    validateEncoding(url);
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(query as object)) {
      // Inherited properties do not count, so that `constructor` is no parameter.
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (property === undefined) throw unknownParameter(name, known);
      if (typeof value !== 'string')
        throw invalid(name, `${name} is in the query more than once. Send it once.`);
      if (hadPlus(value)) {
        throw invalid(name, `${name} has a space in it. Write a + in the query string as %2B.`);
      }
      values[name] = readValue(name, value, property);
    }
    validateStrings(values);
    if (!validator.Check(values)) throw validationError(schema, values);
    return values;
  };
}

/** True if a space in the value was probably an unencoded +, before a number or in a mail address. */
function hadPlus(value: string): boolean {
  return /^ \d/.test(value) || (value.includes(' ') && isMailAddress(value.replaceAll(' ', '+')));
}

function validateEncoding(url: string): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  const query = url.slice(start + 1);
  if (decodePercent(query) !== undefined) return;
  for (const pair of query.split('&')) {
    const [name = ''] = pair.split('=', 1);
    if (decodePercent(pair) !== undefined) continue;
    throw fieldError(name, 'must be percent-encoded UTF-8, with every % itself written as %25');
  }
}

/** Creates the error for a query string that is too long. It names the longest parameter, unless there are too many. */
function excessive(url: string): AppError {
  const parts = url.slice(url.indexOf('?') + 1).split('&', queryParametersMax + 1);
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one));
  const [name = ''] = longest.split('=', 1);
  return new AppError(
    'invalid_request',
    `The query string is too long. Send at most ${queryMaxCharacters.toLocaleString('en')} characters and ${queryParametersMax} parameters.`,
    parts.length > queryParametersMax ? {} : { param: shortenName(name) },
  );
}

/** The error for a parameter that an operation does not have. @param known the parameters that it has */
export function unknownParameter(name: string, known: readonly string[]): AppError {
  const hint = known.length > 0 ? `Known parameters: ${known.join(', ')}` : 'It takes none';
  return fieldError(name, `is not a query parameter of this request. ${hint}`);
}

function readValue(name: string, text: string, schema: TSchema): unknown {
  const { type } = schema as { readonly type?: unknown };
  if (type === 'integer') return readInteger(name, text, schema);
  return type === 'boolean' ? readBoolean(name, text) : text;
}

function readBoolean(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid(name, `${name} must be true or false.`);
}

/** Parses an integer within the schema's bounds, by default those of JavaScript's safe integers. */
function readInteger(name: string, text: string, schema: TSchema): number {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema as {
    readonly minimum?: number;
    readonly maximum?: number;
  };
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw invalid(name, `${name} must be a whole number from ${minimum} to ${maximum}.`);
}

export type Query = Readonly<Record<string, string | readonly string[]>>;

/** The query of a request with a query string that is too long: JSON operations refuse it, pages ignore it. */
const excessiveQuery: Query = Object.freeze(Object.create(null));

/** Parses a query string. A repeated parameter becomes a list. A value that can't be decoded stays unchanged. */
export function parseQueryString(text: string): Query {
  if (text.length > queryMaxCharacters) return excessiveQuery;
  const parts = text.split('&', queryParametersMax + 1);
  if (parts.length > queryParametersMax) return excessiveQuery;
  const query: Record<string, string | readonly string[]> = Object.create(null);
  for (const part of parts) {
    if (part === '') continue;
    const end = part.indexOf('=');
    const name = decode(end < 0 ? part : part.slice(0, end));
    const value = end < 0 ? '' : decode(part.slice(end + 1));
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  return decodePercent(spaced) ?? spaced;
}
