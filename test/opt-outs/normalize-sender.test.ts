import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { normalizePhoneNumber } from '#server/opt-outs/contact.ts';
import { hasSeveralSenders, normalizeSender } from '#server/opt-outs/normalize-sender.ts';
import { anyText } from '#test/support/generators/generated-texts.ts';

/** FUZZ_SEED and the path that fast-check prints repeat a failure. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const runs = { numRuns: 2_000, seed } as const;

const own = '+14155550199';

const decorated = [
  '\u202a+1\u00a0(415)\u00a0555\u20110100\u202c',
  '\u2066+14155550100\u2069',
  '\u200e+1\u200e415\u200e5550100\ufeff',
  '+1 415\u2010555\u20120100',
  '+1\u2013415\u2014555\u20150100',
  '+1\u2212415\u2212555\u22120100',
  '＋１４１５５５５０１００',
  '+١٤١٥٥٥٥٠١٠٠',
  '+۱۴۱۵۵۵۵۰۱۰۰',
  'tel:+14155550100',
  'TEL:+1-415-555-0100;ext=7',
  'tel://+14155550100',
  'Anna <+14155550100>',
  '"Anna @ work" <tel:+1-415-555-0100>',
  'Anna\u00a02 <415 555 0100>',
  '<+14155550100>',
  '+1 (415) 555-0100 (Home)',
  '(415) 555-0100 (Home 2)',
  '(Home) +1 415 555 0100',
  'Home: +1.415.555.0100',
  'Anna (+1 415 555 0100)',
  '“+14155550100”',
  '\u200e\n+14155550100',
  '415\u2011555\u20110100',
  '+1·415·555·0100',
  '+1•415•555•0100',
  '+1\u2027415\u2027555\u20270100',
  '+1,415,555,0100',
  '+1_415_555_0100',
  '+1[415]555-0100',
  '+१४१५५५५०१००',
  '+๑๔๑๕๕๕๕๐๑๐๐',
  'Home 2: +14155550100',
  'Anna2 +14155550100',
  '+1 415 555 0100 Anna 2',
  'Anna (415) 555-0100',
  '4155550100 Anna',
  '+1 415-555-0100 ext 4',
] as const;

const kept = [
  'anna@example.com',
  '\u202aanna@example.com\u202c',
  'anna+14155550100@example.com',
  'Anna <anna+14155550100@example.com>',
  'Anna',
  'Anna (Home)',
  'Agent 007',
  'Open 24/7',
  'BANK 2025550',
  'abc+14155550100',
  'Ada\u200b Lovelace',
  'urn:biz:1f0d2a4c-5550100',
  '+14155550100 +14155550101',
  '+14155550100, 555',
  // The digit may belong to the name or to the number.
  'Anna 2 415 555 0100',
  '415 555 0100 Anna 2',
  'Order 4155550100-2 Anna',
  'Anna4155550100',
  'Anna 555 0100',
  'BANK 50123',
  '4155550100@example.com',
  '+14155550100@example.com',
  '++14155550100',
  '+0155550100',
  '50123',
  '\u200e50123',
  '(50123)',
  '<50123>',
  '+',
  '()',
] as const;

const digits = fc.stringMatching(/^[1-9]\d{6,14}$/);
const characters = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
/** Separators by their Unicode categories, without those that stand for letters and digits or bound a handle. */
const separators = characters.filter(
  (character) =>
    /^[\p{P}\p{S}\p{Z}\p{Cf}\p{M}]$/u.test(character) &&
    !/[\p{L}\p{N}+@<>;]/u.test(character.normalize('NFKC')),
);
const between = fc.oneof(
  fc.constant(''),
  fc.constantFrom(' ', '-', '.', '(', ')'),
  fc.constantFrom(...separators),
);
const digitZeros = fc.constantFrom(
  ...characters
    .filter((character) => /\p{Nd}/u.test(character))
    .map((character) => character.codePointAt(0) ?? 0)
    .filter((_, index) => index % 10 === 0),
);
const plus = fc.constantFrom('+', '＋', '\ufe62', '\u200e+', '\u202a+\u200b');
const surroundings = fc.constantFrom(
  ...[['', ''] as const, [' ', '\r\n'] as const, ['tel:', ''] as const, ['Tel:', ';ext=12'] as const],
  ...[['Anna <', '>'] as const, ['"Anna 2" <tel:', '> '] as const, ['', ' (Home)'] as const],
  ...[['(Work 2) ', ''] as const, ['Anna: ', ''] as const, ['\u2068', '\u2069'] as const],
  ...[['“', '”'] as const, ['Анна ', ''] as const, ['\u200f', ' \u200f(בית)'] as const],
);
const between16 = fc.array(between, { minLength: 16, maxLength: 16 });

describe('handles that an iPhone reports (specification sections 4.6 and 11.5)', () => {
  it('a phone number is recognised in any decoration: invisible characters, dashes, other digits, tel: and names (§4.6/contact)', () => {
    fc.assert(
      fc.property(
        digits,
        digitZeros,
        plus,
        between16,
        surroundings,
        (number, zero, sign, gaps, [before, after]) => {
          const written = [...number]
            .map((digit, index) => String.fromCodePoint(zero + Number(digit)) + (gaps[index] ?? ''))
            .join('');
          assert.equal(
            normalizeSender(`${before}${sign}${written}${after}`, own),
            normalizePhoneNumber(`+${number}`),
          );
        },
      ),
      runs,
    );
  });

  for (const handle of decorated) {
    it(`${JSON.stringify(handle)} is a decoration of +14155550100 (§4.6/contact)`, () => {
      assert.equal(normalizeSender(handle, own), '+14155550100');
    });
  }

  for (const handle of kept) {
    it(`${JSON.stringify(handle)} stays as it is (§2.1/phone-numbers)`, () => {
      assert.equal(normalizeSender(handle, own), handle);
    });
  }

  it('a handle without a digit stays as it is except for white space around it, whatever its characters (§2.1/phone-numbers)', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), (text) => {
        fc.pre(!/\p{N}/u.test(text.normalize('NFKC')));
        fc.pre(!/[\r\n]/.test(text));
        assert.equal(normalizeSender(text, own), text.trim());
      }),
      runs,
    );
  });

  it('a number that lost its plus sign is one of the own country (§4.6/contact)', () => {
    for (const [reported, number, read] of [
      ['491701234567', '+4917099999999', '+491701234567'],
      ['447911123456', '+447911000000', '+447911123456'],
      ['3933312345', '+393330000000', '+393933312345'],
      ['14155550101', own, '+14155550101'],
    ] as const)
      assert.equal(normalizeSender(reported, number), read);
  });

  it('the first line of a sender counts, and lines with different senders are detected (§2.1/phone-numbers)', () => {
    for (const [reported, sender, isSeveral] of [
      ['+14155550100', '+14155550100', false],
      ['\n+14155550100\n', '+14155550100', false],
      ['+14155550100\r\n(415) 555-0100', '+14155550100', false],
      ['+14155550100\n+14155550101', '+14155550100', true],
      ['ada@example.com\n+14155550100', 'ada@example.com', true],
    ] as const)
      assert.deepEqual(
        [normalizeSender(reported, own), hasSeveralSenders(reported, own)],
        [sender, isSeveral],
      );
  });

  it('a mail address stays as it is (§2.1/phone-numbers)', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => assert.equal(normalizeSender(address, own), address)),
      runs,
    );
  });

  it('a handle of a megabyte is stored (§2.1/phone-numbers)', () => {
    for (const part of ['+', '(', '1', 'a(', '<', '+1 ', '\u200e']) {
      const handle = `a${part.repeat(1_000_000 / part.length)}a`;
      assert.equal(normalizeSender(handle, own), handle);
    }
  });
});
