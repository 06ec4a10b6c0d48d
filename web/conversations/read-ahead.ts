import { useEffect } from 'react';
import type { Conversation, ConversationList } from '#contract/conversation.ts';
import type { LoadedList } from '#web/api/loaded-list.ts';
import { queryClient } from '#web/api/query-client.ts';
import { type ConversationKey, threadQuery } from './conversation-queries.ts';

/** Reads a conversation that is about to open, unless it was read just now. */
export const readAhead = (teamId: string, { phoneNumber, contact }: ConversationKey): void =>
  void queryClient.prefetchQuery(threadQuery(teamId, { phoneNumber, contact }));

/** Reads the next conversation that waits while one is open. */
export function useReadAhead(teamId: string, { phoneNumber, contact }: ConversationKey): void {
  useEffect(() => {
    const lists = queryClient.getQueriesData<LoadedList<ConversationList, Conversation>>({
      queryKey: [teamId, 'message', 'conversations'],
    });
    const next = lists
      .flatMap(([, list]) => list?.rows ?? [])
      .find((one) => one.waiting && (one.contact !== contact || one.phone_number !== phoneNumber));
    if (next) readAhead(teamId, { phoneNumber: next.phone_number, contact: next.contact });
  }, [teamId, phoneNumber, contact]);
}
