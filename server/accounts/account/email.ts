import { emailMaxCharacters } from '#contract/member.ts';
import { invalid } from '#server/platform/app-error.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';

/** Trims an address. @throws 400 with param for an invalid one */
export function parseEmail(text: string, param = 'email'): string {
  const email = text.trim().normalize('NFC');
  // The limit applies to the normalized form too: the lower case of İ is two characters.
  const length = Math.max(email.length, normalizeEmail(email).length);
  if (length > emailMaxCharacters || !isMailAddress(email)) {
    throw invalid(param, `${param} must be an address such as ada@example.com.`);
  }
  return email;
}

/**
 * Normalizes an address for comparison (specification section 12.1): upper and lower case are equal. It does not use
 * Unicode's case folding or upper case. Those equate `ß` and `ss`, `ı` and `i`, which are different mailboxes and
 * domains: one person's address would be another's account.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
