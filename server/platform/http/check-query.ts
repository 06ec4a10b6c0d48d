import type { TObject } from 'typebox';
import { Compile } from 'typebox/compile';
import { invalid } from '#server/platform/app-error.ts';
import { checkStrings } from './check-body.ts';
import { describeProblem } from './schema-problem.ts';

export type QueryCheck = (query: unknown) => Readonly<Record<string, unknown>>;

/**
 * Reads a query string against its schema (specification section 4): a parameter that is not known, sent twice or of
 * the wrong form is refused by name, so that no filter is ever silently ignored.
 */
export function compileQueryCheck(schema: TObject): QueryCheck {
  const validator = Compile(schema);
  const known = Object.keys(schema.properties);
  return (query) => {
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(query as object)) {
      // Not what every object inherits: `constructor` is no parameter.
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (property === undefined) throw unknownParameter(name, known);
      if (typeof value !== 'string') throw invalid(name, `Send ${name} once.`);
      if (/^ \d/.test(value)) {
        throw invalid(name, `${name} begins with a space: in a query string a + must be written as %2B.`);
      }
      values[name] = readValue(name, value, 'type' in property ? property.type : undefined);
    }
    checkStrings(values);
    if (!validator.Check(values)) throw describeProblem(validator.Errors(values)[0]);
    return values;
  };
}

function unknownParameter(name: string, known: readonly string[]) {
  const hint = known.length > 0 ? `Known parameters: ${known.join(', ')}.` : 'It takes none.';
  return invalid(name, `${name} is not a query parameter of this request. ${hint}`);
}

function readValue(name: string, text: string, type: unknown): unknown {
  if (type === 'integer') return readInteger(name, text);
  return type === 'boolean' ? readBoolean(name, text) : text;
}

function readBoolean(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid(name, `${name} must be true or false.`);
}

function readInteger(name: string, text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw invalid(name, `${name} must be a whole number.`);
}
