import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import { isE164 } from '#contract/phone-number.ts';

// Matches the numbers that libphonenumber may change. Only these are parsed, because the library costs more than all
// other checks of a send.
const hasTrunkPrefix = new RegExp(`^\\+(?:${Object.keys(metadata.country_calling_codes).join('|')})0\\d+$`);

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
