import type { InfiniteData } from '@tanstack/react-query';
import type {
  ConversationList,
  ConversationMessageList,
  ConversationRead,
  UnreadConversations,
} from '#contract/conversation.ts';
import type { AcceptedMessage, SendMessageRequest } from '#contract/message.ts';
import { queryClient } from '#web/api/query-client.ts';
import { pagesQuery, readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import { type Thread, withEarlier, withLatest } from './thread-pages.ts';
import { isUnread } from './unread.ts';

export interface ConversationKey {
  readonly phoneNumber: string;
  readonly contact: string;
}

export interface ConversationFilters {
  /** A number of the team; undefined for all numbers. */
  readonly number?: string;
  readonly unread?: boolean;
}

/** Pages of conversations, latest activity first. */
export const conversationsQuery = (teamId: string, { number, unread }: ConversationFilters) => {
  const queryKey = [teamId, 'message', 'conversations', number ?? '', unread ?? false];
  const filters = { number, unread: unread ? 'true' : '' };
  return pagesQuery(queryKey, (cursor, signal) =>
    readTeam<ConversationList>(teamId, '/conversations', { ...filters, cursor }, signal),
  );
};

const readThreadPage = (teamId: string, key: ConversationKey, cursor: string, signal?: AbortSignal) =>
  readTeam<ConversationMessageList>(teamId, `${pathOf(key)}/messages`, { cursor, limit: 40 }, signal);

const threadKey = (teamId: string, { phoneNumber, contact }: ConversationKey) =>
  [teamId, 'message', 'thread', phoneNumber, contact] as const;

/** The thread of a conversation. A repeated read costs one page, however many earlier pages are shown. */
export const threadQuery = (teamId: string, key: ConversationKey) => ({
  queryKey: threadKey(teamId, key),
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Thread> => {
    const latest = await readThreadPage(teamId, key, '', signal);
    return withLatest(queryClient.getQueryData<Thread>(threadKey(teamId, key)), latest);
  },
});

/** Reads the page before the earliest message that is shown. */
export async function loadEarlier(teamId: string, key: ConversationKey): Promise<void> {
  const queryKey = threadKey(teamId, key);
  const cursor = queryClient.getQueryData<Thread>(queryKey)?.cursor;
  if (cursor === undefined) return;
  const page = await readThreadPage(teamId, key, cursor);
  queryClient.setQueryData<Thread>(queryKey, (thread) => thread && withEarlier(thread, cursor, page));
}

/** Invalidates the conversation, the list and the unread count, but not the message log and details. */
export const rereadConversations = (teamId: string, key: ConversationKey) =>
  Promise.all(
    [threadKey(teamId, key), [teamId, 'message', 'conversations'], unreadQuery(teamId).queryKey].map(
      (queryKey) => queryClient.invalidateQueries({ queryKey }),
    ),
  );

/** Subtracts an opened conversation from the unread count at once, so that the badge fits the list. */
export function showAsRead(teamId: string, { phoneNumber, contact }: ConversationKey): void {
  let wasUnread = false;
  queryClient.setQueriesData<InfiniteData<ConversationList>>(
    { queryKey: [teamId, 'message', 'conversations'] },
    (list) =>
      list && {
        ...list,
        pages: list.pages.map((page) => ({
          ...page,
          conversations: page.conversations.map((one) => {
            if (one.phone_number !== phoneNumber || one.contact !== contact || !isUnread(one)) return one;
            wasUnread = true;
            return { ...one, unread_count: 0 };
          }),
        })),
      },
  );
  if (!wasUnread) return;
  queryClient.setQueryData<UnreadConversations>(
    unreadQuery(teamId).queryKey,
    (count) => count && { unread_conversations: Math.max(0, count.unread_conversations - 1) },
  );
}

export const unreadQuery = (teamId: string) =>
  teamQuery<UnreadConversations>(teamId, 'message', '/conversations/unread');

export const markRead = (teamId: string, key: ConversationKey, messageId: string) =>
  teamRequest<ConversationRead>(teamId, 'PUT', `${pathOf(key)}/read`, { message_id: messageId });

/** @param idempotencyKey the same for all tries of a message, so that a lost answer does not send it twice */
export const sendMessage = (teamId: string, message: SendMessageRequest, idempotencyKey: string) =>
  teamRequest<AcceptedMessage>(teamId, 'POST', '/messages/send', message, {
    'idempotency-key': idempotencyKey,
  });

export const optOut = (teamId: string, contact: string) =>
  teamRequest(teamId, 'PUT', `/opt-outs/${encodeURIComponent(contact)}`, {});

export const optIn = (teamId: string, contact: string) =>
  teamRequest(teamId, 'DELETE', `/opt-outs/${encodeURIComponent(contact)}`);

const pathOf = ({ phoneNumber, contact }: ConversationKey) =>
  `/conversations/${encodeURIComponent(phoneNumber)}/${encodeURIComponent(contact)}`;
