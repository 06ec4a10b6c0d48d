import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * The sender of an inbound message as it is kept (specification section 11.5): E.164 where the phone reports a phone
 * number, read with the country of the receiving number where it has no country code; any other handle (e-mail, short
 * code, name) as it came. A phone that reports several gives one a line; the first counts.
 */
export function senderHandle(reported: string, ownNumber: string): string {
  const handle = reported.split('\n')[0]?.trim() ?? '';
  if (handle.includes('@')) return handle;
  const country = parsePhoneNumberFromString(ownNumber)?.country;
  const parsed = parsePhoneNumberFromString(handle, country === undefined ? {} : { defaultCountry: country });
  return parsed?.isPossible() && /^[\d\s+().\-/\u00a0]+$/.test(handle) ? parsed.number : handle;
}
