import { type AppError, invalid } from '#server/platform/app-error.ts';

interface SchemaProblem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** The refusal of a field or query parameter that does not fit its schema: it names it and what it wants. */
export function describeProblem(problem: SchemaProblem | undefined): AppError {
  const field = problem?.instancePath.split('/')[1];
  const details = new Map<string, unknown>(Object.entries(problem?.params ?? {}));
  const listed = (name: string) => {
    const value = details.get(name);
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
  switch (problem?.keyword) {
    case 'required': {
      const missing = listed('requiredProperties').split(', ')[0] ?? '';
      return invalid(missing, `${missing} is required.`);
    }
    case 'type':
      return invalid(field ?? '', `${field} must be a ${listed('type').replace(', ', ' or ')}.`);
    case 'enum':
      return invalid(field ?? '', `${field} must be one of: ${listed('allowedValues')}.`);
    case 'minimum':
    case 'maximum':
      return invalid(
        field ?? '',
        `${field} must be ${problem.keyword === 'minimum' ? 'at least' : 'at most'} ${listed('limit')}.`,
      );
    case 'maxLength':
      return invalid(field ?? '', `${field} may have at most ${listed('limit')} characters.`);
    case 'minLength':
      return invalid(field ?? '', `${field} must have at least ${listed('limit')} characters.`);
    case 'pattern':
      return invalid(
        field ?? '',
        `${field} must be an E.164 phone number: +, country code and number, such as +14155550100.`,
      );
    default:
      return invalid(field ?? '', `${field} is not valid.`);
  }
}
