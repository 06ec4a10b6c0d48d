import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  finds,
  parseSearch,
  type Search,
  type SearchedMessage,
  tokensOf,
  tokensOfWay,
  wordsOfMessage,
} from '#server/messages/search/parse-search.ts';
import { hashesOf, signAgain, takeSegment } from '#server/messages/search/segment-signature.ts';

const ada = '+14155550101';

/** Texts with searches that find them, and with others that do not. */
const cases: readonly [content: string, found: readonly string[], others: readonly string[]][] = [
  [
    'Your table is ready.',
    ['table', 'tab', 'READY your', 'your, tab!'],
    ['able', 'tables', 'table tomorrow'],
  ],
  ['Straße, Café, ÀÉÎ', ['strasse', 'STRASSE', 'cafe', 'café', 'aei'], ['trasse', 'caffe']],
  ['order-1042 of 2026-11-28', ['1042', 'order 104', '2026 11'], ['042', '1028']],
  ['Привет, Ёлка', ['прив', 'елка', 'ЁЛК'], ['ривет']],
  ['Καλημέρα, ΟΔΟΣΤΡΩΜΑ', ['καλημερα', 'ΚΑΛΗ', 'οδος'], ['λημ']],
  ['明天的预约是三点', ['预约', '明天', '三点', '预约是'], ['约预', '昨天']],
  ['予約ありがとう。ガイド', ['ありがとう', '予約', 'とう', 'ガイ'], ['ありがと予', 'カイ']],
  ['치과예약되었습니다', ['예약', '예약되었'], ['약예']],
  ['การจอง', ['จอง', 'การจ'], ['จองก']],
  ['हिन्दी संदेश', ['हिन्दी', 'संदेश'], ['न्दी']],
  ['see https://example.com/menu?x=1', ['example', 'menu', 'https'], ['xample']],
];

/** Searches for the contact +14155550101 of a text without digits. */
const digits: readonly [q: string, isFound: boolean][] = [
  ['0101', true],
  ['101', true],
  ['+1 415 555 0101', true],
  ['(415) 555-0101', true],
  ['4155550101', true],
  ['04155550101', true],
  ['hello 0101', true],
  ['hello 01', false],
  ['0102', false],
  ['4155550', false],
  ['goodbye 0101', false],
  ['90101', false],
];

const anyWord = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', 'ß', '1', 'ж'), maxLength: 14 }),
  fc.string({ unit: fc.constantFrom('预', '约', 'あ', 'ガ', '한', 'ก', '𠀀'), maxLength: 7 }),
  fc.constantFrom('555', '0101', '+1', '(415)', '\u0301', 'İ', 'ﬁ', '٣'),
);
const anyText = fc.array(anyWord, { maxLength: 6 }).map((words) => words.join(' '));

/** A parsed search; undefined if it is refused. */
function parse(q: string): Search | undefined {
  try {
    return parseSearch(q);
  } catch {
    return undefined;
  }
}

describe('the words and digits of a search (specification section 4.3)', () => {
  const isFound = (q: string, message: SearchedMessage) => finds(parseSearch(q), message);

  it('a search finds words by their beginnings, without regard to case and accents, in any script (§4.3/search)', () => {
    for (const [content, found, others] of cases) {
      for (const q of found) assert.ok(isFound(q, { content, handle: ada }), `${q} in ${content}`);
      for (const q of others) assert.ok(!isFound(q, { content, handle: ada }), `${q} in ${content}`);
    }
  });

  it('the numbers of a search may be the last digits of the contact, as people write them (§4.3/search)', () => {
    const found = digits.map(([q]) => [q, isFound(q, { content: 'Hello', handle: ada })]);
    assert.deepEqual(found, digits);
    assert.ok(!isFound('0101', { content: 'Hello', handle: 'ada0101@example.com' }));
  });

  it('a search without a word of 3 characters, or 2 of a script without spaces, is refused (§4.3/search)', () => {
    for (const q of ['ab', 'a b c', '..', '1 2', '约', ' ', 'at 7'])
      assert.throws(() => parseSearch(q), { code: 'invalid_request', param: 'q' }, q);
    for (const q of ['abc', 'a bcd', '12 3', '预约', '06 12']) parseSearch(q);
  });

  it('a message that a search finds has all tokens of the search, and its signature all of their bits', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), anyText, (contents, q) => {
        const search = parse(q);
        fc.pre(search !== undefined);
        const messages = contents.map((content) => ({ content, handle: ada }));
        const { count, signature } = takeSegment(messages);
        assert.equal(count, messages.length);
        assert.deepEqual(signAgain(messages), signature);
        for (const message of [...messages, { content: `x ${q} y`, handle: ada }]) {
          if (!finds(search, message)) continue;
          found += 1;
          const tokens = new Set(wordsOfMessage(message).flatMap(tokensOf));
          const own = takeSegment([message]).signature;
          const hasBit = (hash: number) =>
            ((own[(hash % (own.length * 8)) >> 3] ?? 0) >> (hash % 8)) % 2 === 1;
          assert.ok(
            search.some((way) =>
              tokensOfWay(way).every((token) => tokens.has(token) && hashesOf(token).every(hasBit)),
            ),
            JSON.stringify([q, message]),
          );
        }
      }),
      { numRuns: 500, seed: 61 },
    );
    assert.ok(found > 100, `${found}`);
  });

  it('a segment has as many messages as have room in its signature, and at least one', () => {
    const long = (seed: number) => ({
      content: Array.from({ length: 4_000 }, (_, n) =>
        ((n * 7_919 + seed) % 46_656).toString(36).padStart(3, '0'),
      ).join(' '),
      handle: ada,
    });
    const short = Array.from({ length: 300 }, (_, n) => ({ content: `text ${n}`, handle: ada }));
    assert.equal(takeSegment(short).count, 256);
    assert.equal(takeSegment([long(1), ...short]).count, 1);
    const few = takeSegment([...short.slice(0, 9), long(1)]);
    assert.deepEqual([few.count, few.signature.length < 200], [9, true]);
    assert.equal(takeSegment([long(1)]).signature.length, 4_000);
  });
});
