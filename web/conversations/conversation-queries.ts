import type { InfiniteData } from '@tanstack/react-query';
import type {
  ConversationList,
  ConversationMessageList,
  ConversationRead,
  UnreadConversations,
} from '#contract/conversation.ts';
import type { AcceptedMessage, SendMessageRequest } from '#contract/message.ts';
import { request } from '#web/api/request.ts';
import { teamQuery, teamRequest, withQuery } from '#web/api/team-requests.ts';

/** A conversation: one of the team's phone numbers and the other side. */
export interface ConversationKey {
  readonly phoneNumber: string;
  readonly contact: string;
}

export interface ConversationFilters {
  /** A number of the team; undefined for all. */
  readonly number?: string;
  readonly unread?: boolean;
}

const nextCursor = (page: { readonly has_more: boolean; readonly cursor: string }) =>
  page.has_more ? page.cursor : undefined;

/** Pages of conversations, the latest activity first. */
export const conversationsQuery = (teamId: string, { number, unread }: ConversationFilters) => ({
  queryKey: [teamId, 'message', 'conversations', number ?? '', unread ?? false],
  queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
    request<ConversationList>(
      'GET',
      withQuery(`/app/teams/${teamId}/conversations`, {
        number,
        unread: unread ? 'true' : '',
        cursor: pageParam,
      }),
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: nextCursor,
});

/** Pages of a conversation's messages, newest first. */
export const threadQuery = (teamId: string, key: ConversationKey) => ({
  queryKey: [teamId, 'message', 'thread', key.phoneNumber, key.contact],
  queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
    request<ConversationMessageList>(
      'GET',
      withQuery(`/app/teams/${teamId}${pathOf(key)}/messages`, { cursor: pageParam, limit: 40 }),
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: nextCursor,
});

export type Thread = InfiniteData<ConversationMessageList, string>;

export const unreadQuery = (teamId: string) =>
  teamQuery<UnreadConversations>(teamId, 'message', '/conversations/unread');

export const markRead = (teamId: string, key: ConversationKey, messageId: string) =>
  teamRequest<ConversationRead>(teamId, 'PUT', `${pathOf(key)}/read`, { message_id: messageId });

/** @param idempotencyKey the same for each try of one message: a lost answer sends it once */
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
