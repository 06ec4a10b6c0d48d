import metadata from 'libphonenumber-js/min/metadata';
import { contactOf } from './contact.ts';

const callingCodes = Object.keys(metadata.country_calling_codes);

/** Lists the spellings of a phone number that `contactOf` makes equal, itself included. */
export function listSpellings(contact: string): string[] {
  const withTrunkPrefix = callingCodes
    .filter((code) => contact.startsWith(`+${code}`))
    .map((code) => `+${code}0${contact.slice(code.length + 1)}`);
  const mexican = contact.startsWith('+52') ? [`+521${contact.slice(3)}`] : [];
  return [contact, ...[...withTrunkPrefix, ...mexican].filter((handle) => contactOf(handle) === contact)];
}
