import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import { isE164 } from '#contract/phone-number.ts';

// libphonenumber costs more than the rest of a send's checks together, so it reads only numbers that may change.
const hasTrunkPrefix = new RegExp(`^\\+(?:${Object.keys(metadata.country_calling_codes).join('|')})0\\d+$`);

/** Until 2019 Mexico's mobile numbers had a 1 behind the country's code; both spellings reach the same phone. */
const mexicanMobile = /^\+521(\d{10})$/;

/**
 * The one spelling of a phone number that has several (specification section 4.6). It has no trunk prefix 0 behind
 * the calling code, as in +44 (0)7911, and not Mexico's old 1. A 0 that belongs to the number stays, as in Italy.
 * Anything that is no phone number in E.164 stays as it is.
 */
export function normalizePhoneNumber(phoneNumber: string): string {
  const mexican = mexicanMobile.exec(phoneNumber)?.[1];
  if (mexican !== undefined) return `+52${mexican}`;
  if (!hasTrunkPrefix.test(phoneNumber)) return phoneNumber;
  const parsed = parsePhoneNumberFromString(phoneNumber);
  return parsed?.isPossible() && isE164(parsed.number) ? parsed.number : phoneNumber;
}
