import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCursor } from '#server/dashboard/conversations/conversation-lists.ts';
import { idMax, type MessageId } from '#server/platform/ids.ts';
import {
  isOlderId,
  type ListSource,
  type LoadedList,
  readList,
  withOlder,
} from '../../web/api/loaded-list.ts';
import { isOlderConversation } from '../../web/conversations/older-conversation.ts';

interface Page {
  readonly rows: readonly { readonly id: string }[];
  readonly cursor: string;
  readonly has_more: boolean;
}
type List = LoadedList<Page, Page['rows'][number]>;

/** A page whose cursor is its last row, or another row that the server examined. */
const page = (ids: string, has_more: boolean, cursor = ids.at(-1) ?? ''): Page => ({
  rows: ids.split('').map((id) => ({ id })),
  cursor,
  has_more,
});

/** Reads a list from pages, which are keyed by the cursor at which they begin. */
const read = (pages: Readonly<Record<string, Page>>, before?: List, { nowMs = 0, isLong = false } = {}) => {
  const source: ListSource<Page, Page['rows'][number]> = {
    read: async (cursor) => pages[cursor] ?? assert.fail(`the page at ${cursor} was read`),
    rowsOf: ({ rows }) => rows,
    isOlder: isOlderId,
    isLong,
  };
  return { source, list: readList(source, () => before, nowMs) };
};
const show = ({ rows, cursor, hasMore }: List) =>
  `${rows.map(({ id }) => id).join('')}<${cursor}${hasMore ? '…' : ''}`;

describe('lists that are read again', () => {
  const begin = async (isLong = false) => {
    const { source, list } = read({ '': page('fe', true) }, undefined, { isLong });
    return { source, begun: await list };
  };
  const longer = async () => {
    const { source, begun } = await begin();
    return withOlder(source, begun, 'e', page('dc', true));
  };

  it('the newest page is put before the loaded rows, unless rows between them may be missing', async () => {
    const again = async (newest: Page) => show(await read({ '': newest }, await longer()).list);
    const cases: readonly (readonly [Page, string, string])[] = [
      [page('gf', true), 'gfedc<c…', 'one is new'],
      [page('ge', true), 'gedc<c…', 'one fits the filters no more'],
      [page('hg', true), 'hg<g…', 'a gap'],
      [page('fedc', false), 'fedc<c', 'the whole list'],
      [page('', true, 'e'), 'dc<c…', 'none of those that a page may examine fits'],
      [page('fd', true), 'fdc<c…', 'a page that reaches further'],
    ];
    for (const [newest, shown, why] of cases) assert.equal(await again(newest), shown, why);
  });

  it('a list that has loaded no older pages shows the newest page only, and a conversation keeps each shown message', async () => {
    const { begun } = await begin();
    assert.equal(show(await read({ '': page('gf', true) }, begun).list), 'gf<f…');
    const conversation = (await begin(true)).begun;
    assert.equal(show(await read({ '': page('gf', true) }, conversation).list), 'gfe<e…');
  });

  it('older rows are appended to the list once', async () => {
    const { source, begun } = await begin();
    const list = withOlder(source, begun, 'e', page('dc', true));
    assert.equal(show(list), 'fedc<c…');
    assert.equal(withOlder(source, list, 'e', page('dc', true)), list);
  });

  it('every 30 s a read of the list covers all loaded rows, and no more rows', async () => {
    const pages = { '': page('hg', true), g: page('fd', true), d: page('cb', true) };
    const list = await longer();
    assert.equal(show(await read({ '': page('gf', true) }, list, { nowMs: 29_999 }).list), 'gfedc<c…');
    const whole = await read(pages, list, { nowMs: 30_000 }).list;
    assert.equal(show(whole), 'hgfdcb<b…', 'e is gone');
    assert.equal(show(await read({ '': page('hg', true) }, whole, { nowMs: 59_999 }).list), 'hgfdcb<b…');
  });

  it('an older page that arrives while the list is read stays in the list', async () => {
    const { source, begun } = await begin();
    let list = withOlder(source, begun, 'e', page('dc', true));
    const answer = Promise.withResolvers<Page>();
    const reading = readList({ ...source, read: () => answer.promise }, () => list, 0);
    list = withOlder(source, list, 'c', page('ba', false));
    answer.resolve(page('gf', true));
    assert.equal(show(await reading), 'gfedcba<a');
  });

  it('conversations are ordered by the time in the cursor of the server', () => {
    const at = new Date('2026-11-22T10:05:00.250Z');
    const cursor = formatCursor({ at, messageId: idMax as MessageId });
    const isOlder = (last_activity_at: string) => isOlderConversation({ last_activity_at }, cursor);
    assert.equal(isOlder('2026-11-22T10:05:00.251Z'), false);
    assert.equal(isOlder('2026-11-22T10:05:00.249Z'), true);
  });
});
