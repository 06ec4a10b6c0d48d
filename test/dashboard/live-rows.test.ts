import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Conversation } from '#contract/conversation.ts';
import type { ListedMessage } from '#contract/message.ts';
import { mergeConversations } from '../../web/live/merge-conversations.ts';
import { mergeMessages } from '../../web/live/merge-messages.ts';

const own = '+14155550100';

function messageOf(id: string, changed: Partial<ListedMessage> = {}): ListedMessage {
  return {
    id,
    to: own,
    from: '+14155550101',
    content: id,
    media_url: null,
    status: 'received',
    direction: 'inbound',
    created_at: '2026-11-22T10:00:00.000Z',
    delivered_at: null,
    error_code: null,
    ...changed,
  };
}

const sent = (id: string, status: ListedMessage['status']) =>
  messageOf(id, { direction: 'outbound', from: own, to: '+14155550101', status });

/** The time of day, such as `10:05`, on one fixed date. */
const at = (time: string) => `2026-11-22T${time}:00.000Z`;

function conversationOf(contact: string, time: string, changed: Partial<Conversation> = {}): Conversation {
  return {
    phone_number: own,
    number_label: '',
    number_removed: false,
    contact,
    last_message: null,
    last_activity_at: at(time),
    waiting_count: 0,
    opted_out: false,
    unread_count: 0,
    ...changed,
  };
}

describe('live rows in pages of messages (§12.9/rows)', () => {
  const pageOf = (ids: readonly ListedMessage[], has_more = false) => ({
    messages: ids,
    cursor: ids.at(-1)?.id ?? '',
    has_more,
  });
  const merge = (
    pages: readonly ReturnType<typeof pageOf>[],
    rows: readonly ListedMessage[],
    fits: (message: ListedMessage) => boolean = () => true,
  ) =>
    mergeMessages(pages, rows, fits).map((page) =>
      page.messages.map(({ id, status }) => (status === 'received' ? id : `${id} ${status}`)),
    );

  it('a new message is first, and a changed one keeps its position', () => {
    const pages = [pageOf([sent('m3', 'queued'), messageOf('m2')])];
    assert.deepEqual(merge(pages, [messageOf('m4'), sent('m3', 'sent')]), [['m4', 'm3 sent', 'm2']]);
  });

  it('a late message is inserted by its time, unless it belongs to a page that was not read', () => {
    const pages = [
      pageOf([messageOf('m9'), messageOf('m6')], true),
      pageOf([messageOf('m5'), messageOf('m3')], true),
    ];
    const rows = [messageOf('m7'), messageOf('m4'), messageOf('m1')];
    assert.deepEqual(merge(pages, rows), [
      ['m9', 'm7', 'm6'],
      ['m5', 'm4', 'm3'],
    ]);
    assert.deepEqual(merge([pageOf([messageOf('m3')])], [messageOf('m1')]), [['m3', 'm1']], 'the last page');
    assert.deepEqual(merge([pageOf([])], [messageOf('m1')]), [['m1']], 'an empty log');
  });

  it('an older row of the live stream does not undo a message’s progress', () => {
    const delivered = [pageOf([sent('m1', 'delivered')])];
    assert.deepEqual(merge(delivered, [sent('m1', 'sent')]), [['m1 delivered']]);
    assert.deepEqual(merge([pageOf([sent('m1', 'polling')])], [sent('m1', 'queued')]), [['m1 queued']]);
    assert.deepEqual(merge([pageOf([sent('m1', 'failed')])], [sent('m1', 'sent')]), [['m1 sent']]);
  });

  it('a message leaves the log when it no longer matches the filters, and appears when it does', () => {
    const isFailed = ({ status }: ListedMessage) => status === 'failed';
    assert.deepEqual(merge([pageOf([sent('m2', 'failed')])], [sent('m2', 'sent')], isFailed), [[]]);
    assert.deepEqual(
      merge([pageOf([sent('m3', 'failed')])], [sent('m2', 'failed'), messageOf('m4')], isFailed),
      [['m3 failed', 'm2 failed']],
    );
  });
});

describe('live rows in pages of conversations (§12.9/rows)', () => {
  const pageOf = (conversations: readonly Conversation[], has_more = false) => ({ conversations, has_more });
  const merge = (
    pages: readonly ReturnType<typeof pageOf>[],
    rows: { readonly conversations: readonly Conversation[]; readonly messages?: readonly ListedMessage[] },
    isUnreadOnly = false,
  ) => {
    const merged = mergeConversations(pages, { messages: [], ...rows }, isUnreadOnly);
    const names = merged.pages.map((page) =>
      page.conversations.map(({ contact, unread_count }) =>
        unread_count === 0 ? contact : `${contact} ${unread_count}`,
      ),
    );
    return merged.hasUnknown ? [...names, 'unknown'] : names;
  };
  const received = (id: string, from: string) => messageOf(id, { from });

  it('a conversation with a new message moves to the top, even from a later page', () => {
    const pages = [
      pageOf([conversationOf('ada', '10:05'), conversationOf('bob', '10:04')], true),
      pageOf([conversationOf('eve', '10:03')]),
    ];
    assert.deepEqual(merge(pages, { conversations: [conversationOf('eve', '10:06')] }), [
      ['eve', 'ada', 'bob'],
      [],
    ]);
  });

  it('a conversation that is older than the read pages does not move to the top', () => {
    const pages = [pageOf([conversationOf('ada', '10:05'), conversationOf('bob', '10:04')], true)];
    assert.deepEqual(merge(pages, { conversations: [conversationOf('old', '09:00')] }), [['ada', 'bob']]);
    assert.deepEqual(
      merge(pages, { conversations: [conversationOf('new', '10:06'), conversationOf('older', '10:03')] }),
      [['new', 'ada', 'bob'], 'unknown'],
    );
  });

  it('each received message counts as unread exactly once', () => {
    const before = conversationOf('ada', '10:05', { last_message: received('m5', 'ada'), unread_count: 1 });
    const rows = {
      conversations: [conversationOf('ada', '10:06', { last_message: sent('m8', 'queued') })],
      messages: [sent('m8', 'queued'), received('m7', 'ada'), received('m6', 'ada'), received('m5', 'ada')],
    };
    assert.deepEqual(merge([pageOf([before])], rows), [['ada 3']]);
    const after = { ...before, last_message: sent('m8', 'queued'), unread_count: 0 };
    assert.deepEqual(merge([pageOf([after])], rows), [['ada']]);
  });

  it('a message from a handle that is spelled differently counts once', () => {
    const last = received('m6', 'Ada@Example.com');
    const rows = {
      conversations: [conversationOf('ada@example.com', '10:06', { last_message: last })],
      messages: [last],
    };
    assert.deepEqual(merge([pageOf([conversationOf('ada@example.com', '10:05')])], rows), [
      ['ada@example.com 1'],
    ]);
  });

  it('a list of unread conversations gets one that became unread, and no other', () => {
    const rows = {
      conversations: [
        conversationOf('ada', '10:06', { last_message: received('m6', 'ada') }),
        conversationOf('bob', '10:05', { last_message: sent('m5', 'sent') }),
      ],
      messages: [received('m6', 'ada'), sent('m5', 'sent')],
    };
    assert.deepEqual(merge([pageOf([])], rows, true), [['ada 1'], 'unknown']);
  });

  it('an older row of the live stream changes no conversation, unless the later message was cancelled', () => {
    const before = [pageOf([conversationOf('ada', '10:06', { last_message: sent('m8', 'queued') })])];
    const early = conversationOf('ada', '10:05', { last_message: received('m7', 'ada'), waiting_count: 9 });
    const waiting = (messages: readonly ListedMessage[]) =>
      mergeConversations(before, { conversations: [early], messages }, false).pages[0]?.conversations[0]
        ?.waiting_count;
    assert.equal(waiting([]), 0);
    assert.equal(waiting([sent('m8', 'failed')]), 9);
  });
});
