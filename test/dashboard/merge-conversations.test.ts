import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatCursor,
  mergePage,
  type Position,
  type PositionedConversation,
  readCursor,
} from '#server/dashboard/conversations/conversation-lists.ts';
import type { MessageId } from '#server/platform/ids.ts';

const at = (second: number): Position => ({
  at: new Date(second * 1_000),
  messageId: `01990000-0000-7000-8000-${String(second).padStart(12, '0')}` as MessageId,
});
/** Parses `ada 9` as the conversation with Ada at second 9. */
const conversation = (text: string): PositionedConversation => {
  const [contact = '', second] = text.split(' ');
  return { phoneNumber: '+14155550100', contact, position: at(Number(second)) };
};
const conversations = (text: string) => (text === '' ? [] : text.split(', ').map(conversation));

interface Case {
  readonly title: string;
  readonly waiting: string;
  readonly others: string;
  readonly before?: number;
  readonly bound?: number;
  readonly shows: string;
  readonly last: number | undefined;
  readonly hasMore: boolean;
}

const cases: readonly Case[] = [
  { title: 'an empty list', waiting: '', others: '', shows: '', last: undefined, hasMore: false },
  {
    title: 'waiting ones stand among the others by their time',
    waiting: 'ada 9, bob 5',
    others: 'cy 7, dee 4',
    shows: 'ada cy bob',
    last: 5,
    hasMore: true,
  },
  {
    title: 'one that is in both stands where its waiting message is',
    waiting: 'ada 9',
    others: 'cy 7, ada 6, dee 4',
    shows: 'ada cy dee',
    last: 4,
    hasMore: false,
  },
  {
    title: 'one that an earlier page showed is not shown again',
    waiting: 'ada 9',
    others: 'ada 6, dee 4',
    before: 7,
    shows: 'dee',
    last: 4,
    hasMore: false,
  },
  {
    title: 'of two numbers of one phone number the later waiting message counts',
    waiting: 'ada 3, ada 8',
    others: 'bob 5',
    shows: 'ada bob',
    last: 5,
    hasMore: false,
  },
  {
    title: 'what is older than the position at which reading stopped belongs to the next page',
    waiting: 'ada 9, bob 2',
    others: 'cy 7',
    bound: 4,
    shows: 'ada cy',
    last: 4,
    hasMore: true,
  },
  {
    title: 'a full page ends with its last conversation, wherever reading stopped',
    waiting: 'ada 9, bob 8',
    others: 'cy 7',
    bound: 4,
    shows: 'ada bob cy',
    last: 7,
    hasMore: true,
  },
  {
    title: 'a page that is exactly full has no more',
    waiting: 'ada 9, bob 8',
    others: 'cy 7',
    shows: 'ada bob cy',
    last: 7,
    hasMore: false,
  },
];

describe('a page of conversations with waiting messages', () => {
  for (const { title, waiting, others, before = 100, bound, shows, last, hasMore } of cases) {
    it(`${title}`, () => {
      const stop = bound === undefined ? undefined : conversation(`zoe ${bound}`);
      const page = mergePage(conversations(waiting), conversations(others), at(before), stop, 3);
      assert.equal(page.rows.map(({ contact }) => contact).join(' '), shows);
      assert.deepEqual(page.last?.position, last === undefined ? undefined : at(last));
      assert.equal(page.has_more, hasMore);
    });
  }

  it('conversations of the same time are ordered by id, and the cursor contains both', () => {
    const [low, high] = [at(5), { ...at(6), at: at(5).at }];
    const page = mergePage(
      [{ ...conversation('ada 5'), position: low }],
      [{ ...conversation('bob 5'), position: high }],
      at(9),
      undefined,
      2,
    );
    assert.equal(page.rows.map(({ contact }) => contact).join(' '), 'bob ada');
    assert.deepEqual(readCursor(formatCursor(low)), low);
  });
});
