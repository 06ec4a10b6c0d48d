import { emailMaxCharacters } from '#contract/member.ts';
import { invalid } from '#server/platform/app-error.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';

/** Trims and checks an address. @throws 400 with param */
export function parseEmail(text: string, param = 'email'): string {
  const email = text.trim().normalize('NFC');
  // The length limit applies to the normalized form, too, which may be longer: the lower case of İ has two characters.
  const length = Math.max(email.length, normalizeEmail(email).length);
  if (length > emailMaxCharacters || !isMailAddress(email)) {
    throw invalid(param, `${param} must be an address such as ada@example.com.`);
  }
  return email;
}

/**
 * Normalizes an address for comparison (specification section 12.1): case is ignored by changing to lower case.
 * Unicode's case folding and upper case would equate `ß` with `ss` and `ı` with `i`, which belong to different
 * mailboxes and domains.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
