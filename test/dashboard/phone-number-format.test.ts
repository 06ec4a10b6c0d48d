import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';

/** Fills up a beginning of a national number to a length. */
const fillers = ['123456789012345', '555555555555555', '000000000000000', '987654321098765'];

/** Mobile numbers of a country: all beginnings of three digits that its metadata allow, in all their lengths. */
function mobileNumbersOf(country: keyof typeof metadata.countries): string[] {
  const [code, , , lengths] = metadata.countries[country] as unknown as [string, string, string, number[]];
  const types = (metadata.countries[country] as unknown as (readonly (readonly [string])[])[])[11];
  const pattern = new RegExp(`^(?:${types?.[1]?.[0] ?? '-'})$`);
  const numbers: string[] = [];
  for (let beginning = 0; beginning < 1_000; beginning += 1) {
    for (const length of lengths) {
      for (const filler of fillers) {
        const national = `${String(beginning).padStart(3, '0')}${filler}`.slice(0, length);
        if (pattern.test(national)) numbers.push(`+${code}${national}`);
      }
    }
  }
  return numbers;
}

describe('phone numbers as people write them', () => {
  for (const [handle, shown] of [
    ['+14155550100', '+1 415 555 0100'],
    ['+4915112345678', '+49 1511 2345678'],
    ['+447911123456', '+44 7911 123456'],
    ['+33612345678', '+33 6 12 34 56 78'],
    ['+5491123456789', '+54 9 11 2345 6789'],
    ['+35312345678', '+353 123 456 78'],
    ['+99912345678', '+999 123 456 78'],
    ['maria@example.com', 'maria@example.com'],
    ['32665', '32665'],
    ['', ''],
  ] as const) {
    it(`the handle ${handle || 'no handle'} is shown as ${shown || 'nothing'}`, () => {
      assert.equal(formatPhoneNumber(handle), shown);
    });
  }

  it('mobile numbers of all countries are grouped as libphonenumber-js groups them', () => {
    let count = 0;
    const others = new Map<string, string>();
    for (const country of Object.keys(metadata.countries) as (keyof typeof metadata.countries)[]) {
      for (const number of mobileNumbersOf(country)) {
        const parsed = parsePhoneNumberFromString(number);
        const shown = parsed?.formatInternational() ?? '';
        // The library has no groups for some small countries.
        if (parsed?.number !== number || shown === `+${parsed.countryCallingCode} ${parsed.nationalNumber}`)
          continue;
        count += 1;
        if (formatPhoneNumber(number) !== shown) others.set(country, number);
      }
    }
    assert.ok(count > 50_000, `${count} numbers`);
    assert.deepEqual(
      Object.fromEntries(others),
      {},
      'the rules of contract/mobile-groups.ts are as new as the library',
    );
  });
});
