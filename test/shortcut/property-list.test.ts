import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBuffer } from 'bplist-parser';
import fc from 'fast-check';
import { parse } from 'plist';
import type { PropertyList } from '#shortcut/property-list/property-list.ts';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import { writeXmlPropertyList } from '#shortcut/property-list/write-xml.ts';

/** Removes the prototypes of parsed dictionaries, so that only their content is compared. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const readXml = (value: PropertyList) => plain(parse(writeXmlPropertyList(value)));
const readBinary = (value: PropertyList) => plain(parseBuffer(writeBinaryPropertyList(value))[0]);

describe('property lists, read by third-party libraries (specification section 11.11)', () => {
  const hard: readonly PropertyList[] = [
    '',
    ' ',
    '&<>"\'',
    '&amp;&#13;]]>',
    'Grüße 👩‍👩‍👧 \u202e\u0301 \ufffc',
    'two\nlines\tand a tab',
    'a carriage return\r\nand one more\r',
    'x'.repeat(14),
    'x'.repeat(15),
    'é'.repeat(70_000),
    0,
    1,
    255,
    256,
    65_535,
    65_536,
    2 ** 31,
    4_292_093_695,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    -1,
    true,
    false,
    [],
    {},
    [[], {}, [true, [false, 0, '']]],
    { 'a & b': { '<c>': [] }, '': '' },
    Array.from({ length: 300 }, (_, n) => `item ${n}`),
  ];
  for (const [name, read] of [
    ['XML', readXml],
    ['binary', readBinary],
  ] as const) {
    it(`${name}: texts, numbers and nested values are read back unchanged`, () => {
      for (const value of hard) assert.deepEqual(read({ value }), { value });
    });

    it(`${name}: any value of a shortcut is read back unchanged`, () => {
      const text = fc.string({ unit: fc.constantFrom('a', '&', '<', '"', 'é', '\ufffc', '👋', '\u0301') });
      const key = text.filter((word) => word !== '__proto__');
      const { value } = fc.letrec<{ value: PropertyList }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 4 },
          text,
          fc.integer({ min: 0 }),
          fc.boolean(),
          fc.array(tie('value'), { maxLength: 20 }),
          fc.dictionary(key, tie('value'), { maxKeys: 20, noNullPrototype: true }),
        ),
      }));
      fc.assert(fc.property(value, (drawn) => assert.deepEqual(read({ drawn }), { drawn })));
    });
  }

  it('a property list refuses fractions, and characters that XML does not allow', () => {
    assert.throws(() => writeXmlPropertyList(1.5), RangeError);
    assert.throws(() => writeBinaryPropertyList([Number.NaN]), RangeError);
    for (const text of ['\u0000', 'a\u0008', '\uffff', '\ud83d'])
      assert.throws(() => writeXmlPropertyList({ text }), /XML cannot hold U\+/);
  });
});
