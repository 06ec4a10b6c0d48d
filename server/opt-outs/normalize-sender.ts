import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { contactMaxCharacters } from '#contract/opt-out.ts';
import { isE164 } from '#contract/phone-number.ts';
import { normalizePhoneNumber } from './contact.ts';

/** Fewest digits of a local phone number. Shorter ones without a country code are short codes, which stay unchanged. */
const localDigitsMin = 7;

/** With so many digits behind the own country code, only the + is missing. */
const nationalDigitsMin = 9;

/** Invisible characters that phones and address books put around and between digits. */
const invisible = /[\p{Cf}\p{Cc}\p{M}\p{Default_Ignorable_Code_Point}]/gu;
/** The handle in angle brackets behind a name, as in `Anna <+1 415 555 0100>`. */
const afterName = /<([^<>]*)>[^<>]*$/;
/** A label such as (Home). Brackets with a number that names its country are no label. */
const label = /\((?=[^()]*\p{L})[^()+]*\)/gu;
/** Digits with any separators between them. A comma or semicolon with white space behind it separates handles. */
const separator = String.raw`(?:(?![,;]\s)[[\s\p{P}\p{S}]--[+@<>]])`;
const digits = String.raw`\d(?:${separator}*\d)*`;
/** A number with its country code may stand beside words, but neither in a word nor beside a second number. */
const international = new RegExp(
  String.raw`^(|[^+@]*[^\p{L}\d+@])\+${separator}*(${digits})(|[^\p{L}\d+@][^+@]*)$`,
  'v',
);
const local = new RegExp(`^${separator}*${digits}${separator}*$`, 'v');
/** A local number beside words without a digit. A digit may belong to the words or to the number. */
const localBesideWords = new RegExp(String.raw`^(?:[^\d+@]*\s)?\(?(${digits})(?:\s[^\d+@]*)?$`, 'v');
/** Fewest digits of a local number beside words. Fewer may be part of a name, as in BANK 2025550. */
const besideWordsMin = 10;

/**
 * Normalizes the sender of an inbound message (specification section 11.5). A phone number becomes E.164, whatever
 * characters and names surround it; without a country code it gets that of the receiving number. Any other handle
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
  return handle.length > contactMaxCharacters ? handle : (findNumber(handle, ownNumber) ?? handle);
}

/** True if the phone reports several different senders, one a line. Their texts may be joined. */
export function hasSeveralSenders(reported: string, ownNumber: string): boolean {
  const senders = reported.split(/[\r\n]+/).map((line) => normalizeSender(line, ownNumber));
  return new Set(senders.filter((sender) => sender !== '')).size > 1;
}

function findNumber(handle: string, ownNumber: string): string | undefined {
  const text = handle
    .normalize('NFKC')
    .replaceAll(invisible, '')
    .replaceAll(/\p{Nd}/gu, digitValue);
  const written = (afterName.exec(text)?.[1] ?? text)
    .trim()
    .replace(/^tel:(?:\/\/)?([^;]*).*$/i, '$1')
    .replaceAll(label, ' ')
    .trim();
  const [, before = '', withCountry, after = ''] = international.exec(written) ?? [];
  if (withCountry !== undefined) {
    const number = `+${digitsOf(withCountry)}`;
    return isLabel(before) && isLabel(after) && isE164(number) ? normalizePhoneNumber(number) : undefined;
  }
  if (local.test(written)) return findLocalNumber(digitsOf(written), ownNumber);
  const besideWords = digitsOf(localBesideWords.exec(written)?.[1] ?? '');
  return besideWords.length < besideWordsMin ? undefined : findLocalNumber(besideWords, ownNumber);
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '');
}

/** True for words beside a number, such as `Home 2:`. Digits alone or many of them may be a second number. */
function isLabel(text: string): boolean {
  const { length } = digitsOf(text);
  return length === 0 || (length < localDigitsMin && /\p{L}/u.test(text));
}

/** Unicode assigns the decimal digits of a script to ten consecutive code points, from 0 to 9. */
function digitValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

/** Parses a number without a plus sign as a phone of the receiving number's country would dial it. */
function findLocalNumber(written: string, ownNumber: string): string | undefined {
  const country = parsePhoneNumberFromString(ownNumber)?.country;
  const parsed = parsePhoneNumberFromString(
    written,
    country === undefined ? {} : { defaultCountry: country },
  );
  if (!parsed) return undefined;
  // Spreadsheets take the + away. In Germany such a number is possible as a local one, too.
  const whole = parsePhoneNumberFromString(`+${written}`);
  if (whole?.country !== undefined && whole.country === country && whole.isValid())
    if (whole.nationalNumber.length >= nationalDigitsMin) return normalizePhoneNumber(whole.number);
  const number = normalizePhoneNumber(parsed.number);
  if (!isE164(number) || (number === parsed.number && !parsed.isPossible())) return undefined;
  return written.startsWith('00') || parsed.nationalNumber.length >= localDigitsMin ? number : undefined;
}

/**
 * True if a received message went to several recipients (specification section 11.5). Phones may include their own
 * number among the recipients or leave it out.
 * @param reported handles or names, separated by line ends, commas or semicolons
 */
export function isGroupMessage(reported: string | undefined, from: string, ownNumber: string): boolean {
  const recipients = (reported ?? '')
    .split(/[\n,;]/)
    .map((handle) => normalizeSender(handle, ownNumber))
    .filter((handle) => handle !== '' && handle !== from);
  return new Set(recipients).size > 1;
}
