import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isE164 } from '#contract/phone-number.ts';
import { normalizePhoneNumber } from '#server/opt-outs/normalize-phone-number.ts';
import { handleMaxCharacters } from './limits.ts';

/** Fewest digits of a local phone number. Shorter ones without a country code are short codes, which stay unchanged. */
const localDigitsMin = 7;

/** Characters without a shape of their own, which phones and address books put around and between digits. */
const invisible = /[\p{Cf}\p{Cc}\p{M}\p{Default_Ignorable_Code_Point}]/gu;
const dashes = /[\p{Pd}\u2212\u2043\u02d7]/gu;
/** Arabic and Persian digits, which NFKC keeps. The last four bits are the digit's value. */
const arabicDigits = /[\u0660-\u0669\u06f0-\u06f9]/g;

/** The handle in angle brackets behind a name, as in `Anna <+1 415 555 0100>`. */
const afterName = /<([^<>]*)>[^<>]*$/;
/** A label such as (Home). Brackets with a number that names its country are no label. */
const label = /\((?=[^()]*\p{L})[^()+]*\)/gu;
/** A number with its country code, which may stand beside words, but neither in a word nor beside other digits. */
const international = /^(?:[^\d+@]*[^\p{L}\d+@])?\+([\d\s().\-/]+)(?:[^\p{L}\d+@][^\d+@]*)?$/u;
const local = /^[\d\s().\-/]+$/;

/**
 * Normalizes the sender of an inbound message (specification section 11.5). A phone number becomes E.164, whatever
 * characters and names decorate it; without a country code it gets that of the receiving number. Any other handle
 * (e-mail, short code, name) stays unchanged. If the phone reports several senders, one a line, the first counts. A
 * number need not be assigned: fictional ones are accepted, and numbering plans change.
 */
export function normalizeSender(reported: string, ownNumber: string): string {
  const lines = reported.split(/[\r\n]+/);
  const handle = (
    lines.find((line) => line.replaceAll(invisible, '').trim() !== '') ??
    lines[0] ??
    ''
  ).trim();
  return handle.length > handleMaxCharacters ? handle : (findNumber(handle, ownNumber) ?? handle);
}

function findNumber(handle: string, ownNumber: string): string | undefined {
  const text = handle
    .normalize('NFKC')
    .replaceAll(invisible, '')
    .replaceAll(dashes, '-')
    .replaceAll(arabicDigits, (digit) => String(digit.charCodeAt(0) & 0xf));
  const written = (afterName.exec(text)?.[1] ?? text)
    .trim()
    .replace(/^tel:(?:\/\/)?([^;]*).*$/i, '$1')
    .replaceAll(label, ' ')
    .trim();
  const withCountry = international.exec(written)?.[1];
  if (withCountry === undefined) return local.test(written) ? findLocalNumber(written, ownNumber) : undefined;
  const number = `+${withCountry.replaceAll(/\D/g, '')}`;
  return isE164(number) ? normalizePhoneNumber(number) : undefined;
}

/** Parses a number without a plus sign as a phone of the receiving number's country would dial it. */
function findLocalNumber(written: string, ownNumber: string): string | undefined {
  const country = parsePhoneNumberFromString(ownNumber)?.country;
  const parsed = parsePhoneNumberFromString(
    written,
    country === undefined ? {} : { defaultCountry: country },
  );
  if (!parsed) return undefined;
  const number = normalizePhoneNumber(parsed.number);
  if (!isE164(number) || (number === parsed.number && !parsed.isPossible())) return undefined;
  return written.startsWith('00') || parsed.nationalNumber.length >= localDigitsMin ? number : undefined;
}
