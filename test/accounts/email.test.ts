import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizeEmail } from '#server/accounts/account/account.ts';

describe('comparison of e-mail addresses (§12.1/account)', () => {
  it('upper and lower case, and the Unicode spellings of one accented letter, are the same address', () => {
    const same = [
      ['Ada@Example.COM', 'ada@example.com'],
      ['ZOË@example.com', 'zoe\u0308@example.com'],
      ['STRA\u1e9eE@example.com', 'Straße@example.com'],
      ['ЮЛИЯ@example.com', 'юлия@example.com'],
      ['\u0130da@example.com', 'i\u0307da@example.com'],
    ] as const;
    for (const [one, other] of same) assert.equal(normalizeEmail(one), normalizeEmail(other), one);
    for (const address of same.flat())
      assert.equal(normalizeEmail(normalizeEmail(address)), normalizeEmail(address));
  });

  it('addresses with letters that only look or sound alike are different addresses', () => {
    const different = [
      ['straße@example.com', 'strasse@example.com'],
      ['ada@straße.example', 'ada@strasse.example'],
      ['ad\u0131@example.com', 'adi@example.com'],
      ['\u0130da@example.com', 'ida@example.com'],
      ['\u017fam@example.com', 'sam@example.com'],
      ['a\ufb01@example.com', 'afi@example.com'],
    ] as const;
    for (const [one, other] of different) assert.notEqual(normalizeEmail(one), normalizeEmail(other), one);
  });
});
