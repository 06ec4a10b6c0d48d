import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchWords, wordsOfContact, wordsOfQuery } from '#server/contacts/search-words.ts';

/** Whether a query finds a contact, as the database compares them. */
function finds(query: string, name: string, handles: readonly string[] = []): boolean {
  const words = wordsOfContact(name, handles);
  const terms = wordsOfQuery(query);
  return (
    terms.length > 0 &&
    terms.every((one) => one.some((start) => words.some((word) => word.startsWith(start))))
  );
}

describe('the words by which contacts are found (specification section 4.8)', () => {
  it('each word of a query begins a word of the name, in any case, order and spelling of accents (§4.8/query)', () => {
    const found = [
      ['ada', 'Ada Example'],
      ['EX ad', 'Ada Example'],
      ['a', 'Ada Example'],
      ['jurgen', 'Jürgen Groß'],
      ['JÜRGEN GROSS', 'Jürgen Groß'],
      ['gross', 'Jürgen Groß'],
      ['jose\u0301', 'José Núñez'],
      ['istanbul', 'İstanbul Kebap'],
      ['ii', 'ıı'],
      ['παπαδοπουλος', 'ΠΑΠΑΔΟΠΟΥΛΟΣ'],
      ['παπαδοπουλοσ', 'Παπαδόπουλος'],
      ['김', '김민준'],
      ['ㄱ', '김민준'],
      ['דנה', 'דָּנָה כהן'],
      ['محمد', 'مُحَمَّد'],
      ['🦷', 'Dentist 🦷'],
      ['o brien', "Ann O'Brien"],
      ['12', 'Room 12'],
      ['ﬁ', 'Fiona'],
      ['mary-jane', 'Mary-Jane Watson'],
    ];
    for (const [query = '', name = ''] of found) assert.ok(finds(query, name), `${query} finds ${name}`);
    for (const [query, name] of [
      ['da', 'Ada Example'],
      ['ada x', 'Ada Example'],
      ['ada grace', 'Ada Example'],
      ['!', 'Ada!'],
      [' ', 'Ada'],
      ['adaexample', 'Ada Example'],
    ] as const)
      assert.ok(!finds(query, name), `${query} does not find ${name}`);
  });

  it('a number finds phone numbers that end in it, also with the zeros that people dial (§4.8/query)', () => {
    const [german, american] = ['+4917155501234', '+14155550101'];
    for (const [query, handle] of [
      ['1', american],
      ['0101', american],
      ['555 0101', american],
      ['(415) 555-0101', american],
      ['+1 415 555 0101', american],
      ['0171 555 01234', german],
      ['0049 171 55501234', german],
      ['+49 171/555.01234', german],
    ] as const) {
      assert.ok(finds(query, 'Ada', [handle]), `${query} finds ${handle}`);
      assert.ok(!finds(query, 'Ada', ['ada0101@example.com', '+33612345678']), query);
    }
    assert.ok(!finds('0101', 'Ada', ['+14155551101']), 'a zero of a short number counts');
    assert.ok(finds('ada 0101', 'Ada Example', [american]));
    assert.ok(!finds('grace 0101', 'Ada Example', [american]));
  });

  it('a word fits into an index whatever it is made of, and so do all words of a query into a number', () => {
    const longest = searchWords('ﷺ'.repeat(100));
    assert.ok(
      longest.every((word) => Buffer.byteLength(word) <= 256),
      String(longest),
    );
    const each = Array.from({ length: 50 }, (_, n) => String.fromCodePoint(0x4e00 + n)).join(' ');
    assert.equal(wordsOfQuery(each).length, 50);
  });

  it('a beginning of another word of the query is left out, so no row is read for both', () => {
    assert.deepEqual(wordsOfQuery('a ad ada 12'), [['ada'], ['12', '#21']]);
    assert.deepEqual(wordsOfQuery('ada Ada ADA'), [['ada']]);
  });
});
