import { contactMaxCharacters } from '#contract/opt-out.ts';
import { isE164 } from '#contract/phone-number.ts';
import { invalid } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { shortCodeDigitsMax } from './limits.ts';
import { normalizePhoneNumber } from './normalize-phone-number.ts';

/**
 * Contact: the other side of a conversation, by its normalized handle (specification section 4.6). Mail addresses are
 * equal in upper and lower case, and a phone number has one spelling. Any other handle stays as it is.
 * @param handle a `to`, or the `from` of a stored message
 */
export function contactOf(handle: string): string {
  if (!handle.includes('@')) return normalizePhoneNumber(handle);
  // The lower case of some letters is longer, and the database bounds a contact.
  return [...handle.normalize('NFC').toLowerCase()].slice(0, contactMaxCharacters).join('');
}

/**
 * Reads a contact of a path. Any handle that a message may have is one.
 * @throws AppError 400, param contact
 */
export function parseContact(text: string): string {
  const length = [...text].length;
  if (length < 1 || length > contactMaxCharacters || text.includes('\0')) {
    throw invalid('contact', `contact must have 1 to ${contactMaxCharacters} characters, without U+0000.`);
  }
  return contactOf(text);
}

/**
 * Reads a contact that a request opts out. A phone number without its country code is refused: no send would go to it.
 * @throws AppError 400, param contact
 */
export function parseNewContact(text: string): string {
  const contact = parseContact(text.trim());
  refuseHiddenCharacters('contact', contact);
  if (isE164(contact) || !/^[\d\s+().\-/]+$/.test(contact)) return contact;
  const digits = contact.replaceAll(/\D/g, '').length;
  if (digits === contact.length && digits <= shortCodeDigitsMax) return contact;
  throw invalid(
    'contact',
    'contact must be a phone number in E.164, such as +14155550101, or another handle as messages show it in from.',
  );
}
