import fc from 'fast-check';

/** Chooses one of several generators, with weights. */
export function weighted<T>(...choices: readonly (readonly [number, fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

const codePoints = fc
  .oneof(
    fc.integer({ min: 0, max: 0x2ff }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0, max: 0x10ffff }),
  )
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

/** Characters of several code points. */
const clusters = fc.constantFrom('👨‍👩‍👧', '🇩🇪', 'e\u0301', '각', 'क्षि', 'ก็', '1️⃣', '👋🏽', '\r\n');

/**
 * Any text of Unicode; the limits are numbers of characters. `fc.string` with such a unit would first make a table of
 * all characters, which takes 0.8 s of CPU.
 */
export const anyText = (limits: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc.array(weighted([9, codePoints], [1, clusters]), limits).map((characters) => characters.join(''));
