import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { typeIdOfUuid, uuidOfTypeId } from '#server/platform/ids.ts';

/** Valid ids from TypeID 0.3.0 (spec/valid.yml). This test adds a prefix to those without one. */
const valid = [
  ['prefix', '00000000000000000000000000', '00000000-0000-0000-0000-000000000000'],
  ['prefix', '00000000000000000000000001', '00000000-0000-0000-0000-000000000001'],
  ['prefix', '0000000000000000000000000a', '00000000-0000-0000-0000-00000000000a'],
  ['prefix', '0000000000000000000000000g', '00000000-0000-0000-0000-000000000010'],
  ['prefix', '00000000000000000000000010', '00000000-0000-0000-0000-000000000020'],
  ['prefix', '7zzzzzzzzzzzzzzzzzzzzzzzzz', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ['prefix', '0123456789abcdefghjkmnpqrs', '0110c853-1d09-52d8-d73e-1194e95b5f19'],
  ['prefix', '01h455vb4pex5vsknk084sn02q', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ['pre_fix', '00000000000000000000000000', '00000000-0000-0000-0000-000000000000'],
] as const;

/** The invalid texts of spec/invalid.yml, by name. */
const invalid: Readonly<Record<string, string>> = {
  'prefix-uppercase': 'PREFIX_00000000000000000000000000',
  'prefix-numeric': '12345_00000000000000000000000000',
  'prefix-period': 'pre.fix_00000000000000000000000000',
  'prefix-non-ascii': 'préfix_00000000000000000000000000',
  'prefix-spaces': '  prefix_00000000000000000000000000',
  'prefix-64-chars': `${'abcdefghijklmnopqrstuvwxyz'.repeat(2)}abcdefghijkl_00000000000000000000000000`,
  'separator-empty-prefix': '_00000000000000000000000000',
  'separator-empty': '_',
  'suffix-short': 'prefix_1234567890123456789012345',
  'suffix-long': 'prefix_123456789012345678901234567',
  'suffix-spaces': 'prefix_1234567890123456789012345 ',
  'suffix-uppercase': 'prefix_0123456789ABCDEFGHJKMNPQRS',
  'suffix-hyphens': 'prefix_123456789-123456789-123456',
  'suffix-wrong-alphabet': 'prefix_ooooooiiiiiiuuuuuuulllllll',
  'suffix-ambiguous-crockford': 'prefix_i23456789ol23456789oi23456',
  'suffix-hyphens-crockford': 'prefix_123456789-0123456789-0123456',
  'suffix-overflow': 'prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz',
  'prefix-underscore-start': '_prefix_00000000000000000000000000',
  'prefix-underscore-end': 'prefix__00000000000000000000000000',
};

describe('TypeIDs (specification section 2.1)', () => {
  it('TypeIDs are written and read as in the published test vectors', () => {
    for (const [prefix, suffix, uuid] of valid) {
      const text = `${prefix}_${suffix}`;
      assert.equal(typeIdOfUuid(prefix, uuid), text);
      assert.equal(uuidOfTypeId(prefix, text), uuid);
    }
  });

  it('the invalid TypeIDs of the published test vectors are refused', () => {
    for (const [name, text] of Object.entries(invalid))
      assert.equal(uuidOfTypeId('prefix', text), undefined, name);
  });

  it('TypeIDs decode to every UUID, and no other text decodes', () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.nat({ max: 25 }),
        fc.string({ minLength: 1, maxLength: 1 }),
        (uuid, at, other) => {
          const text = typeIdOfUuid('msg', uuid);
          assert.equal(uuidOfTypeId('msg', text), uuid);
          const changed = `${text.slice(0, 4 + at)}${other}${text.slice(5 + at)}`;
          const read = uuidOfTypeId('msg', changed);
          if (read !== undefined) assert.equal(typeIdOfUuid('msg', read), changed);
        },
      ),
    );
  });
});
