import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type { ConversationList } from '#contract/conversation.ts';
import type { Home } from '#contract/home.ts';
import type { LiveRows } from '#contract/live.ts';
import type { MessageLog } from '#contract/message.ts';
import type { NumberList } from '#contract/number.ts';
import { type Thread, withStatuses } from '#web/conversations/thread-pages.ts';
import { fitsFilters, type MessageFilters } from '#web/messages/message-filters.ts';
import { mergeConversations } from './merge-conversations.ts';
import { laterOf, mergeMessages } from './merge-messages.ts';
import { mergeNumbers } from './merge-numbers.ts';

type Pages<Page> = InfiniteData<Page, string>;

interface Applied {
  /** Whether a list of conversations must be read again, because a row belongs to a conversation that it lacks. */
  readonly hasUnknownConversations: boolean;
}

/** Merges rows of the live stream into the query cache, so that a busy team needs no request per message. */
export function applyRows(client: QueryClient, teamId: string, rows: LiveRows): Applied {
  const findAll = (...key: string[]) => client.getQueryCache().findAll({ queryKey: [teamId, ...key] });
  for (const { queryKey } of findAll('message', 'log')) {
    const filters = queryKey[3] as MessageFilters;
    client.setQueryData<Pages<MessageLog>>(
      queryKey,
      (log) =>
        log && {
          ...log,
          pages: mergeMessages(log.pages, rows.messages, (message) => fitsFilters(message, filters)),
        },
    );
  }
  let hasUnknownConversations = false;
  for (const { queryKey } of findAll('message', 'conversations')) {
    const [, , , number, isUnreadOnly] = queryKey as [string, string, string, string, boolean];
    const conversations = rows.conversations.filter((one) => !number || one.phone_number === number);
    client.setQueryData<Pages<ConversationList>>(queryKey, (list) => {
      if (!list) return undefined;
      const merged = mergeConversations(list.pages, { ...rows, conversations }, isUnreadOnly);
      hasUnknownConversations ||= merged.hasUnknown;
      return { ...list, pages: merged.pages };
    });
  }
  for (const { queryKey } of findAll('message', 'thread')) {
    client.setQueryData<Thread>(queryKey, (thread) => thread && withStatuses(thread, rows.messages, laterOf));
  }
  client.setQueryData<Static<typeof NumberList>>(
    [teamId, 'number', '/numbers'],
    (list) => list && { numbers: mergeNumbers(list.numbers, rows) },
  );
  client.setQueryData<Home>([teamId, 'number', '/home'], (home) => home && withHome(home, rows));
  return { hasUnknownConversations };
}

/** Merges rows into the data of the page Home. Counts and states are updated by the next read of the page. */
function withHome(home: Home, { numbers, removed_numbers, usage }: LiveRows): Home {
  const byId = new Map(numbers.map((number) => [number.id, number]));
  return {
    ...home,
    numbers: home.numbers
      .filter(({ id }) => !removed_numbers.includes(id))
      .map((number) => ({ ...number, ...byId.get(number.id) })),
    usage: usage ?? home.usage,
  };
}
