import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type AppError, invalid, unreadable } from '#server/platform/app-error.ts';
import { jsonDepthMax } from './limits.ts';
import { printableName, shortenName, validationError } from './validation-error.ts';

export type BodyValidator = (body: unknown) => void;

/**
 * Refuses U+0000 and lone surrogates anywhere in a body, because PostgreSQL or a receiver could not store them
 * (specification section 2.1).
 * @param param the top-level field of the value
 */
export function validateStrings(value: unknown, param?: string, depth = 0): void {
  if (depth > jsonDepthMax) throw refuse(param, `is nested too deeply. Send at most ${jsonDepthMax} levels`);
  if (typeof value === 'string') {
    if (value.includes('\u0000'))
      throw refuse(param, 'contains the character U+0000, which no phone can show. Leave it out');
    if (!value.isWellFormed())
      throw refuse(param, 'contains half of a surrogate pair. Send well-formed Unicode');
  } else if (typeof value === 'object' && value !== null) {
    // Object.entries would create an array per field; every request runs this loop.
    for (const name in value) {
      const within = param ?? (Array.isArray(value) ? undefined : name);
      validateStrings(name, within, depth + 1);
      validateStrings(value[name as keyof typeof value], within, depth + 1);
    }
  }
}

/** Creates the error. The field's name may be invalid, too, so it is made printable. */
function refuse(param: string | undefined, problem: string): AppError {
  if (param === undefined) return unreadable(`The body ${problem}.`);
  return invalid(shortenName(param), `${printableName(param)} ${problem}.`);
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
