import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListedMessage, MessageLog } from '#contract/message.ts';
import { splitLinks } from '../../web/kit/split-links.ts';
import { mergeSources } from '../../web/messages/message-filters.ts';

const rowsOf = (ids: string) => ids.split('').map((id) => ({ id }) as ListedMessage);
const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join('');

describe('messages on a page', () => {
  it('the log of one contact merges sent and received messages, page by page, without a gap', () => {
    const page = (ids: string, has_more: boolean) =>
      ({ messages: rowsOf(ids), cursor: ids.at(-1) ?? '', has_more }) as MessageLog;
    const show = (merged: MessageLog) => `${idsOf(merged.messages)} ${merged.cursor} ${merged.has_more}`;
    assert.equal(show(mergeSources([page('ig', true), page('hb', true)])), 'ihg g true');
    assert.equal(show(mergeSources([page('ig', true), page('fb', false)])), 'ig g true');
    assert.equal(show(mergeSources([page('fb', false), page('c', false)])), 'fcb b false');
    assert.equal(show(mergeSources([page('fb', false), page('b', false)])), 'fb b false', 'to itself');
    assert.equal(show(mergeSources([page('', false), page('', false)])), '  false');
  });

  it('http and https addresses in a text become links, without the punctuation after them', () => {
    const links = (text: string) =>
      splitLinks(text).flatMap(({ href }) => (href === undefined ? [] : [href]));
    const table: [string, string[]][] = [
      ['See https://example.com/a?b=c#d.', ['https://example.com/a?b=c#d']],
      [
        '(https://example.com/a_(b)), or HTTP://EXAMPLE.COM!',
        ['https://example.com/a_(b)', 'HTTP://EXAMPLE.COM'],
      ],
      ['javascript:alert(1) data:text/html,x file:///etc mailto:ada@example.com', []],
      ['https://example.com/\u202Efdp.exe', ['https://example.com/']],
      ['<a href="https://example.com/x">', ['https://example.com/x']],
      ['https:// http://', []],
      ['قم بزيارة https://example.com/مرحبا الآن', ['https://example.com/مرحبا']],
    ];
    for (const [text, expected] of table) {
      assert.deepEqual(links(text), expected, text);
      assert.equal(
        splitLinks(text)
          .map((part) => part.text)
          .join(''),
        text,
      );
    }
  });
});
