import { callingCodeOf } from './format-phone-number.ts';

/** The digits that people dial before a national number, by calling code; "0" in all other countries. */
const trunkPrefixes: Readonly<Record<string, string>> = { 1: '1', 7: '8', 36: '06', 39: '' };

/**
 * Reads a phone number as people write it. A number without a country code gets that of the team's number.
 * @returns the number in E.164; undefined for any other text
 */
export function readPhoneNumber(typed: string, ownNumber: string | undefined): string | undefined {
  const plain = typed.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+');
  if (/^\+[1-9]\d{6,14}$/.test(plain)) return plain;
  if (ownNumber === undefined || !/^\d{6,14}$/.test(plain)) return undefined;
  const code = callingCodeOf(ownNumber.slice(1));
  // With so many digits behind the own country code, only the + is missing.
  if (plain.startsWith(code) && plain.length - code.length >= 9 && code !== '1') return `+${plain}`;
  const trunk = trunkPrefixes[code] ?? '0';
  const national = plain.startsWith(trunk) ? plain.slice(trunk.length) : plain;
  return code === '1' && national.length !== 10 ? undefined : `+${code}${national}`;
}

/** Reads a phone number or a mail address. The server refuses any other text. */
export const readHandle = (typed: string, ownNumber: string | undefined): string =>
  readPhoneNumber(typed, ownNumber) ?? typed.trim();
