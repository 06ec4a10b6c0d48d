import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isE164 } from '#contract/phone-number.ts';

/** Shorter than that a number without a country code is taken for a short code, which is dialled as it stands. */
const localDigitsMin = 7;

/**
 * The sender of an inbound message as it is kept (specification section 11.5): E.164 where the phone reports a phone
 * number, read with the country of the receiving number where it has no country code; any other handle (e-mail, short
 * code, name) as it came. A phone that reports several gives one a line; the first counts.
 *
 * Whether the number is assigned is not asked: fictional ones are fine, and plans change.
 */
export function normalizeSender(reported: string, ownNumber: string): string {
  const handle = reported.split('\n')[0]?.trim() ?? '';
  if (!/^[\d\s+().\-/\u00a0]+$/.test(handle)) return handle;
  const country = parsePhoneNumberFromString(ownNumber)?.country;
  const parsed = parsePhoneNumberFromString(handle, country === undefined ? {} : { defaultCountry: country });
  if (!parsed?.isPossible() || !isE164(parsed.number)) return handle;
  const saysCountry = /^(\+|00)/.test(handle);
  return saysCountry || parsed.nationalNumber.length >= localDigitsMin ? parsed.number : handle;
}
