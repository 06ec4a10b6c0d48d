import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** An E.164 number in a person's format: `+1 415 555 0100`. Other texts stay as they are. */
export function formatPhoneNumber(text: string): string {
  return parsePhoneNumberFromString(text)?.formatInternational() ?? text;
}
