import type { TSchema } from 'typebox';
import { e164Pattern } from '#contract/phone-number.ts';
import { type AppError, invalid, unreadable } from '#server/platform/app-error.ts';
import { countText } from '#server/platform/text.ts';

/** The part of JSON Schema that requests use. A test checks that their schemas have no other keyword. */
interface RequestSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly RequestSchema[];
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: RequestSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

/** Keywords that `firstProblem` can explain. */
export const explainedKeywords = [
  ...['type', 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern'],
] as const;

const e164 = 'an E.164 phone number: +, country code and number';

type Path = readonly (string | number)[];

interface ValidationProblem {
  /** Field names and indexes of arrays, from the outermost to the invalid one. */
  readonly path: Path;
  /** The rest of a sentence that begins with the field's name. */
  readonly says: string;
}

/** An error shows only the beginning of a longer name. */
const nameMaxCharacters = 100;

/**
 * The error for a field or a parameter, whose name may be invalid, too. Without a name it is for the whole body.
 * @param says the rest of a sentence that begins with the name
 */
export function fieldError(name: string | undefined, says: string): AppError {
  if (name === undefined) return unreadable(`The body ${says}.`);
  return invalid(shortenName(name), `${printableName(name)} ${says}.`);
}

/**
 * The error for a body or query that does not match its schema: it names the field and the rule. Validation stops at
 * the first problem, and examines no more array entries than the schema allows.
 */
export function validationError(schema: TSchema, value: unknown): AppError {
  const { path, says } = firstProblem(schema as RequestSchema, value, []) ?? {
    path: [],
    says: 'is not valid',
  };
  return invalid(shortenName(String(path[0] ?? '')), `${printablePath(path)} ${says}.`);
}

/** Formats a path as JavaScript writes it, such as `pacing.mode` or `events[0]`. */
function printablePath([first = '', ...rest]: Path): string {
  const parts = rest.map((part) => (typeof part === 'number' ? `[${part}]` : `.${printableName(part)}`));
  return printableName(String(first)) + parts.join('');
}

/**
 * Formats a field's name for an error text: well-formed, so that every JSON parser can read the error, and visible even
 * if it is empty.
 */
function printableName(name: string): string {
  return name === '' ? '""' : shortenName(name);
}

/** Formats a field's name for `param`: well-formed, and cut to a maximum length. */
export function shortenName(name: string): string {
  const isLong = name.length > nameMaxCharacters;
  return (isLong ? `${name.slice(0, nameMaxCharacters)}…` : name).toWellFormed();
}

function firstProblem(schema: RequestSchema, value: unknown, path: Path): ValidationProblem | undefined {
  if (schema.anyOf) return problemOfUnion(schema.anyOf, value, path);
  const wants = (says: string): ValidationProblem => ({ path, says });
  if (schema.enum) {
    if (schema.enum.includes(value)) return undefined;
    return typeof value === 'string' || schema.type === undefined
      ? wants(`must be one of: ${schema.enum.join(', ')}`)
      : wants(mustBe([schema]));
  }
  if ('const' in schema) {
    return value === schema.const ? undefined : wants(`must be ${JSON.stringify(schema.const)}`);
  }
  if (schema.type !== undefined && !isOfType(schema.type, value)) return wants(mustBe([schema]));
  if (typeof value === 'string') return problemOfText(schema, value, wants);
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    if (value < minimum) return wants(`must be at least ${minimum}`);
    return value > maximum ? wants(`must be at most ${maximum}`) : undefined;
  }
  if (Array.isArray(value)) return problemOfArray(schema, value, path);
  return typeof value === 'object' && value !== null
    ? problemOfObject(schema, value as Readonly<Record<string, unknown>>, path)
    : undefined;
}

/**
 * Explains why a value fits no branch of a union: names the problem in the branch for the value's type. If no branch
 * has this type, the allowed types are listed.
 */
function problemOfUnion(
  branches: readonly RequestSchema[],
  value: unknown,
  path: Path,
): ValidationProblem | undefined {
  const own = branches.filter(({ type }) => type === undefined || isOfType(type, value));
  if (own.length === 0) return { path, says: mustBe(branches) };
  const problems = own.map((branch) => firstProblem(branch, value, path));
  return problems.includes(undefined) ? undefined : problems[0];
}

function problemOfText(
  schema: RequestSchema,
  value: string,
  wants: (says: string) => ValidationProblem,
): ValidationProblem | undefined {
  const { minLength = 0, maxLength = Infinity, pattern, examples } = schema;
  // A text has at least half as many code points as code units, so a very long text is refused without counting.
  const tooLong = value.length > maxLength * 2 || (value.length > maxLength && [...value].length > maxLength);
  if (tooLong) return wants(`may have at most ${countText(maxLength, 'character')}`);
  if (value.length < minLength * 2 && [...value].length < minLength)
    return wants(`must have at least ${countText(minLength, 'character')}`);
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined;
  const example = examples === undefined ? '' : `, such as ${examples[0]}`;
  return wants(`must be ${pattern === e164Pattern ? e164 : 'in the right format'}${example}`);
}

function problemOfArray(
  { items, minItems = 0, maxItems = Infinity }: RequestSchema,
  value: readonly unknown[],
  path: Path,
): ValidationProblem | undefined {
  if (value.length < minItems) {
    const choices = items?.enum === undefined ? '' : `, of: ${items.enum.join(', ')}`;
    return { path, says: `must have at least ${countText(minItems, 'entry', 'entries')}${choices}` };
  }
  if (value.length > maxItems)
    return { path, says: `may have at most ${countText(maxItems, 'entry', 'entries')}` };
  if (!items) return undefined;
  for (const [index, item] of value.entries()) {
    const problem = firstProblem(items, item, [...path, index]);
    if (problem) return problem;
  }
  return undefined;
}

function problemOfObject(
  { properties = {}, required = [], additionalProperties }: RequestSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
): ValidationProblem | undefined {
  if (additionalProperties === false) {
    const known = Object.keys(properties);
    for (const name in value) {
      if (!known.includes(name)) return { path: [...path, name], says: unknownField(known) };
    }
  }
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [...path, missing], says: 'is required' };
  for (const [name, schema] of Object.entries(properties)) {
    const problem = Object.hasOwn(value, name)
      ? firstProblem(schema, value[name], [...path, name])
      : undefined;
    if (problem) return problem;
  }
  return undefined;
}

function unknownField(known: readonly string[]): string {
  const hint = known.length > 0 ? `Known fields: ${known.join(', ')}` : 'It takes none';
  return `is not a field of this request. ${hint}`;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function mustBe(schemas: readonly RequestSchema[]): string {
  const types = schemas.map(({ type }) => type ?? 'value').join(' or ');
  return `must be ${/^[aeiou]/.test(types) ? 'an' : 'a'} ${types}`;
}
