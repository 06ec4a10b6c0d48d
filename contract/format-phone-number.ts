import { mobileGroups } from './mobile-groups.ts';

const patternsOfCode = new Map<string, readonly RegExp[]>();

/**
 * Formats a number in E.164 for people, as its country writes mobile numbers: `+1 415 555 0100`, `+49 1511 2345678`.
 * Digits of any other number stand in groups of three. Any other handle stays unchanged.
 */
export function formatPhoneNumber(handle: string): string {
  const digits = /^\+([1-9]\d{6,14})$/.exec(handle)?.[1];
  if (digits === undefined) return handle;
  const code = callingCodeOf(digits);
  const national = digits.slice(code.length);
  const fits = patternsOf(code).map((pattern) => pattern.exec(national));
  const groups = fits.find((fit) => fit !== null)?.slice(1);
  return `+${code} ${groups?.join(' ') ?? inThrees(national)}`;
}

/** The calling code at the beginning of a number's digits. No calling code begins with another one. */
export const callingCodeOf = (digits: string): string =>
  [1, 2, 3].map((length) => digits.slice(0, length)).find((one) => one in mobileGroups) ?? digits.slice(0, 3);

/** Returns patterns that capture the groups of a code's national numbers. They are compiled at its first number. */
function patternsOf(code: string): readonly RegExp[] {
  const known = patternsOfCode.get(code);
  if (known) return known;
  const patterns = (mobileGroups[code] ?? '').split('; ').map(toPattern);
  patternsOfCode.set(code, patterns);
  return patterns;
}

function toPattern(rule: string): RegExp {
  const [firstDigits = '', ...lengths] = rule.split(' ');
  return new RegExp(`^(?=${firstDigits})${lengths.map((length) => `(\\d{${length}})`).join('')}$`);
}

/** Groups digits in threes; the last group has two to four. */
const inThrees = (digits: string): string => digits.replace(/\d{3}(?=\d{2})/g, '$& ');
