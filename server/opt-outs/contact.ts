import { contactMaxCharacters } from '#contract/opt-out.ts';
import { isE164 } from '#contract/phone-number.ts';
import { invalid } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { shortCodeDigitsMax } from './limits.ts';
import { normalizePhoneNumber } from './normalize-phone-number.ts';

/**
 * Contact: the other side of a conversation, by its normalized handle (specification section 4.6). Mail addresses are
 * lower-cased, and a phone number gets one spelling. Any other handle stays as it is.
 * @param handle a `to`, or the `from` of a stored message
 */
export function contactOf(handle: string): string {
  return handle.includes('@') ? foldMailAddress(handle) : normalizePhoneNumber(handle);
}

/** Lower-cases a mail address. Any other handle stays as it is. */
export function foldMailAddress(handle: string): string {
  if (!handle.includes('@')) return handle;
  // Lower-casing lengthens some letters, and the database limits the length of a contact.
  return [...handle.normalize('NFC').toLowerCase()].slice(0, contactMaxCharacters).join('');
}

/** A phone number with its country code, without the separators that people write. Any other text stays as it is. */
export function removeSeparators(text: string): string {
  const number = text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+');
  return isE164(number) ? number : text;
}

/**
 * Reads the contact in a path. Any handle that a message may have is valid.
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
 * Parses a contact that a request opts out. A phone number without a country code is refused, because no send would
 * match it.
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
