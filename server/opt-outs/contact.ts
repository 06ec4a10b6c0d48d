import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import { contactMaxCharacters } from '#contract/opt-out.ts';
import { isE164 } from '#contract/phone-number.ts';
import { invalid } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';

/**
 * Most digits of a short code. A handle with more digits is a phone number, which needs its country code (specification
 * section 11.5).
 */
const shortCodeDigitsMax = 6;

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

const callingCodes = Object.keys(metadata.country_calling_codes);

// Matches the numbers that libphonenumber may change. Only these are parsed, because the library costs more than all
// other checks of a send.
const hasTrunkPrefix = new RegExp(`^\\+(?:${callingCodes.join('|')})0\\d+$`);

/** Until 2019, Mexican mobile numbers had a 1 after the country code. Both spellings reach the same phone. */
const mexicanMobile = /^\+521(\d{10})$/;

/**
 * Returns one spelling of a phone number that has several (specification section 4.6). It drops a trunk prefix 0 after
 * the calling code, as in +44 (0)7911, and Mexico's old 1. A 0 that belongs to the number stays, as in Italy. Text that
 * is no phone number in E.164 stays as it is.
 */
export function normalizePhoneNumber(phoneNumber: string): string {
  const mexican = mexicanMobile.exec(phoneNumber)?.[1];
  if (mexican !== undefined) return `+52${mexican}`;
  if (!hasTrunkPrefix.test(phoneNumber)) return phoneNumber;
  const parsed = parsePhoneNumberFromString(phoneNumber);
  return parsed?.isPossible() && isE164(parsed.number) ? parsed.number : phoneNumber;
}

/** Lists the spellings of a phone number that `contactOf` makes equal, itself included. */
export function listSpellings(contact: string): string[] {
  const withTrunkPrefix = callingCodes
    .filter((code) => contact.startsWith(`+${code}`))
    .map((code) => `+${code}0${contact.slice(code.length + 1)}`);
  const mexican = contact.startsWith('+52') ? [`+521${contact.slice(3)}`] : [];
  return [contact, ...[...withTrunkPrefix, ...mexican].filter((handle) => contactOf(handle) === contact)];
}
