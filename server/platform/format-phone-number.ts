import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** Formats an E.164 number for people, such as `+1 415 555 0100`. Any other text stays unchanged. */
export function formatPhoneNumber(text: string): string {
  return parsePhoneNumberFromString(text)?.formatInternational() ?? text;
}
