import { emailMaxCharacters } from '#contract/member.ts';
import { invalid } from '#server/platform/app-error.ts';

/**
 * One @ with something on both sides, a dot in the domain or a bare host name, no blanks, quotes, brackets or control
 * characters: whatever else a mail server may take, people don't type it on purpose.
 */
const shape = /^[^\s@"'<>(),:;[\]\\\p{Cc}]+@[^\s@"'<>(),:;[\]\\\p{Cc}]+$/u;

/** The address without blanks around it. @throws 400 with param where it is none */
export function readEmail(text: string, param = 'email'): string {
  const email = text.trim().normalize('NFC');
  if ([...email].length > emailMaxCharacters || !shape.test(email)) {
    throw invalid(param, `${param} must be an address such as ada@example.com.`);
  }
  return email;
}

/** The form in which addresses are compared: upper and lower case are the same (specification section 4.1). */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
