import { type AppError, invalid } from '#server/platform/app-error.ts';

interface SchemaProblem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** A name as a sentence shows it: well-formed, so that every parser can read the answer, and seen where it is empty. */
export function shownName(name: string): string {
  return name === '' ? '""' : name.toWellFormed();
}

/**
 * The refusal of a field or query parameter that does not fit its schema: it names it and what it wants.
 * @param problems as the validator lists them; the first one is told
 */
export function describeProblem(problems: readonly SchemaProblem[]): AppError {
  const [problem] = problems;
  const field = problem?.instancePath.split('/')[1] ?? '';
  const detail = (of: SchemaProblem | undefined, name: string): string => {
    const value: unknown = new Map<string, unknown>(Object.entries(of?.params ?? {})).get(name);
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
  const limit = () => detail(problem, 'limit');
  const refuse = (wants: string) => invalid(field, `${shownName(field)} ${wants}.`);
  switch (problem?.keyword) {
    case 'required': {
      const missing = detail(problem, 'requiredProperties').split(', ')[0] ?? '';
      return invalid(missing, `${missing} is required.`);
    }
    case 'type': {
      // Each way to be right is a problem of its own where there are several.
      const types = problems
        .filter(({ keyword, instancePath }) => keyword === 'type' && instancePath === problem.instancePath)
        .map((one) => detail(one, 'type'));
      return refuse(`must be ${withArticle(types.join(' or '))}`);
    }
    case 'enum':
      return refuse(`must be one of: ${detail(problem, 'allowedValues')}`);
    case 'minimum':
      return refuse(`must be at least ${limit()}`);
    case 'maximum':
      return refuse(`must be at most ${limit()}`);
    case 'maxLength':
      return refuse(`may have at most ${characters(limit())}`);
    case 'minLength':
      return refuse(`must have at least ${characters(limit())}`);
    case 'pattern':
      return refuse('must be an E.164 phone number: +, country code and number, such as +14155550100');
    default:
      return refuse('is not valid');
  }
}

function characters(count: string): string {
  return count === '1' ? '1 character' : `${count} characters`;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
