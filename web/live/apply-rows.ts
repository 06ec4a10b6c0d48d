import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type { ConversationFacts, ConversationList } from '#contract/conversation.ts';
import type { Home } from '#contract/home.ts';
import type { LiveRows } from '#contract/live.ts';
import type { Message, MessageList } from '#contract/message.ts';
import type { NumberList } from '#contract/number.ts';

type Pages<Page> = InfiniteData<Page, string>;

/** Puts rows of the live stream into what was read, so that a busy team costs no request per message. */
export function applyRows(client: QueryClient, teamId: string, rows: LiveRows): void {
  for (const query of client.getQueryCache().findAll({ queryKey: [teamId, 'message', 'log'] })) {
    const [, , , status, direction, from, to] = query.queryKey as string[];
    const fits = (message: Message) =>
      (!status || message.status === status) &&
      (!direction || message.direction === direction) &&
      (!from || message.from === from) &&
      (!to || message.to === to);
    client.setQueryData<Pages<MessageList>>(
      query.queryKey,
      (log) => log && withMessages(log, rows.messages, fits),
    );
  }
  for (const query of client.getQueryCache().findAll({ queryKey: [teamId, 'message', 'conversations'] })) {
    const [, , , number, unread] = query.queryKey as [string, string, string, string, boolean];
    const shown = rows.conversations.filter(({ phone_number }) => !number || phone_number === number);
    client.setQueryData<Pages<ConversationList>>(
      query.queryKey,
      (list) => list && withConversations(list, shown, unread),
    );
  }
  client.setQueryData<Static<typeof NumberList>>(
    [teamId, 'number', '/numbers'],
    (list) => list && withNumbers(list, rows),
  );
  client.setQueryData<Home>([teamId, 'number', '/home'], (home) => home && withHome(home, rows));
}

/** Changed messages in their place, new ones in front; those that fit no more are left out. */
function withMessages(
  log: Pages<MessageList>,
  messages: readonly Message[],
  fits: (message: Message) => boolean,
): Pages<MessageList> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const known = new Set(log.pages.flatMap((page) => page.messages.map(({ id }) => id)));
  const newest = log.pages[0]?.messages[0]?.id ?? '';
  // Ids sort by time. An older message that is not known belongs to a page that was not read.
  const added = messages.filter((message) => !known.has(message.id) && message.id > newest && fits(message));
  return {
    ...log,
    pages: log.pages.map((page, index) => ({
      ...page,
      messages: [
        ...(index === 0 ? added : []),
        ...page.messages.map((message) => byId.get(message.id) ?? message).filter(fits),
      ],
    })),
  };
}

const keyOf = ({ phone_number, contact }: ConversationFacts) => `${phone_number} ${contact}`;

/** Conversations with news come to the top. A list of unread ones gets no read ones. */
function withConversations(
  list: Pages<ConversationList>,
  facts: readonly ConversationFacts[],
  isUnreadOnly: boolean,
): Pages<ConversationList> {
  const known = new Map(list.pages.flatMap((page) => page.conversations.map((one) => [keyOf(one), one])));
  const changed = facts.flatMap((fact) => {
    const before = known.get(keyOf(fact));
    const { last_message } = fact;
    const isNew = last_message !== null && last_message.id > (before?.last_message?.id ?? '');
    const isReceived = isNew && last_message.direction === 'inbound';
    const unread_count = (before?.unread_count ?? 0) + (isReceived ? 1 : 0);
    return isUnreadOnly && unread_count === 0 ? [] : [{ ...fact, unread_count }];
  });
  const byKey = new Map(changed.map((one) => [keyOf(one), one]));
  const isMoved = (one: ConversationFacts) => {
    const now = byKey.get(keyOf(one));
    return now !== undefined && now.last_activity_at > one.last_activity_at;
  };
  const risen = changed.filter((one) => {
    const before = known.get(keyOf(one));
    return !before || isMoved(before);
  });
  const top = risen.toSorted((one, other) => other.last_activity_at.localeCompare(one.last_activity_at));
  return {
    ...list,
    pages: list.pages.map((page, index) => ({
      ...page,
      conversations: [
        ...(index === 0 ? top : []),
        ...page.conversations.filter((one) => !isMoved(one)).map((one) => byKey.get(keyOf(one)) ?? one),
      ],
    })),
  };
}

function withNumbers(list: Static<typeof NumberList>, rows: LiveRows): Static<typeof NumberList> {
  const byId = new Map(rows.numbers.map((number) => [number.id, number]));
  const kept = list.numbers.filter(
    ({ id }) => !rows.removed_numbers.includes(id) && (!rows.numbers_complete || byId.has(id)),
  );
  const known = new Set(list.numbers.map(({ id }) => id));
  return {
    numbers: [
      ...kept.map((number) => byId.get(number.id) ?? number),
      ...rows.numbers.filter(({ id }) => !known.has(id)),
    ],
  };
}

/** Counts of Home follow with its next reading; what the rows bring is shown at once. */
function withHome(home: Home, { numbers, usage }: LiveRows): Home {
  const byId = new Map(numbers.map((number) => [number.id, number]));
  return {
    ...home,
    numbers: home.numbers.map((number) => ({ ...number, ...byId.get(number.id) })),
    usage: usage ?? home.usage,
  };
}
