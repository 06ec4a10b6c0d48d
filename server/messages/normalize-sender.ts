import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isE164 } from '#contract/phone-number.ts';
import { normalizePhoneNumber } from '#server/opt-outs/normalize-phone-number.ts';

/** Fewest digits of a local phone number. Shorter ones without a country code are short codes, which stay unchanged. */
const localDigitsMin = 7;

/**
 * Normalizes the sender of an inbound message (specification section 11.5). A phone number becomes E.164; without a
 * country code it gets that of the receiving number. Any other handle (e-mail, short code, name) stays unchanged. If
 * the phone reports several senders, one a line, the first counts. A number need not be assigned: fictional ones are
 * accepted, and numbering plans change.
 */
export function normalizeSender(reported: string, ownNumber: string): string {
  const handle = reported.split('\n')[0]?.trim() ?? '';
  if (!/^[\d\s+().\-/\u00a0]+$/.test(handle)) return handle;
  const country = parsePhoneNumberFromString(ownNumber)?.country;
  const parsed = parsePhoneNumberFromString(handle, country === undefined ? {} : { defaultCountry: country });
  if (!parsed) return handle;
  const number = normalizePhoneNumber(parsed.number);
  if (!isE164(number) || (number === parsed.number && !parsed.isPossible())) return handle;
  const saysCountry = /^(\+|00)/.test(handle);
  return saysCountry || parsed.nationalNumber.length >= localDigitsMin ? number : handle;
}
