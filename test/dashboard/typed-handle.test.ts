import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readHandle } from '#contract/typed-handle.ts';

describe('phone numbers as people type them', () => {
  const cases: readonly (readonly [own: string | undefined, typed: string, read: string])[] = [
    ['+14155550100', '(415) 555-0177', '+14155550177'],
    ['+14155550100', '1 415 555 0177', '+14155550177'],
    ['+14155550100', '+49 (1511) 234/5678', '+4915112345678'],
    ['+14155550100', '0049 1511 2345678', '+4915112345678'],
    ['+14155550100', '555-0177', '555-0177'],
    ['+4915112345600', '01511 2345678', '+4915112345678'],
    ['+4915112345600', '1511 2345678', '+4915112345678'],
    ['+393331234500', '06 1234 5678', '+390612345678'],
    ['+36201234500', '06 20 123 4567', '+36201234567'],
    ['+79161234500', '8 916 123-45-67', '+79161234567'],
    ['+353851234500', '085 123 4567', '+353851234567'],
    [undefined, '(415) 555-0177', '(415) 555-0177'],
    [undefined, '+1 415 555 0177', '+14155550177'],
    ['+14155550100', ' ada@example.com ', 'ada@example.com'],
    ['+14155550100', 'Ada Example', 'Ada Example'],
  ];
  for (const [own, typed, read] of cases) {
    it(`${typed} beside ${own ?? 'no number'} is ${read}`, () => {
      assert.equal(readHandle(typed, own), read);
    });
  }
});
