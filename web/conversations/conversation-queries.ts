import type {
  Conversation,
  ConversationList,
  ConversationMessage,
  ConversationMessageList,
  ConversationRead,
  ConversationWaiting,
  SendReplyRequest,
  SetWaitingRequest,
  WaitingConversations,
} from '#contract/conversation.ts';
import type { AcceptedMessage } from '#contract/message.ts';
import { listQuery } from '#web/api/lists.ts';
import { isOlderId, type LoadedList } from '#web/api/loaded-list.ts';
import { queryClient } from '#web/api/query-client.ts';
import { readTeam, teamQuery, teamRequest } from '#web/api/team-requests.ts';
import type { ConversationFilters } from './conversation-filters.ts';
import { isOlderConversation } from './older-conversation.ts';

export interface ConversationKey {
  readonly phoneNumber: string;
  readonly contact: string;
}

/** The list of conversations, latest activity first. */
export const conversationsQuery = (teamId: string, { number, view = 'all' }: ConversationFilters) => {
  const queryKey = [teamId, 'message', 'conversations', number ?? '', view];
  const filters = { number, ...(view !== 'all' && { [view]: 'true' }) };
  return listQuery(queryKey, {
    read: (cursor, signal) =>
      readTeam<ConversationList>(teamId, '/conversations', { ...filters, cursor }, signal),
    rowsOf: ({ conversations }) => conversations,
    isOlder: isOlderConversation,
  });
};

const threadKey = (teamId: string, { phoneNumber, contact }: ConversationKey) =>
  [teamId, 'message', 'thread', phoneNumber, contact] as const;

/** The messages of a conversation, newest first. None of them disappears when newer ones arrive. */
export const threadQuery = (teamId: string, key: ConversationKey) =>
  listQuery(threadKey(teamId, key), {
    read: (cursor, signal) =>
      readTeam<ConversationMessageList>(teamId, `${pathOf(key)}/messages`, { cursor, limit: 40 }, signal),
    rowsOf: ({ messages }) => messages,
    isOlder: isOlderId,
    isLong: true,
  });

/** Invalidates the conversation, the list and the count of what waits, but not the message log and details. */
export const rereadConversations = (teamId: string, key: ConversationKey) =>
  Promise.all(
    [threadKey(teamId, key), [teamId, 'message', 'conversations'], waitingQuery(teamId).queryKey].map(
      (queryKey) => queryClient.invalidateQueries({ queryKey }),
    ),
  );

/** Shows a change of a conversation at once, before the server has answered. */
export function showChange(
  teamId: string,
  key: ConversationKey,
  change: Partial<Pick<Conversation & ConversationMessageList, 'waiting' | 'unread_count'>>,
): void {
  queryClient.setQueriesData<LoadedList<ConversationList, Conversation>>(
    { queryKey: [teamId, 'message', 'conversations'] },
    (list) =>
      list && {
        ...list,
        rows: list.rows.map((one) =>
          one.phone_number === key.phoneNumber && one.contact === key.contact ? { ...one, ...change } : one,
        ),
      },
  );
  queryClient.setQueryData<LoadedList<ConversationMessageList, ConversationMessage>>(
    threadKey(teamId, key),
    (thread) => thread && { ...thread, newest: { ...thread.newest, ...change } },
  );
}

export const waitingPath = '/conversations/waiting';

/** The conversations that wait for the team, counted, and the latest inbound messages. */
export const waitingQuery = (teamId: string) =>
  teamQuery<WaitingConversations>(teamId, 'message', waitingPath);

export const markRead = (teamId: string, key: ConversationKey, messageId: string) =>
  teamRequest<ConversationRead>(teamId, 'PUT', `${pathOf(key)}/read`, { message_id: messageId });

export const setWaiting = (teamId: string, key: ConversationKey, request: SetWaitingRequest) =>
  teamRequest<ConversationWaiting>(teamId, 'PUT', `${pathOf(key)}/waiting`, request);

/** @param idempotencyKey the same for all tries of a message, so that a lost answer does not send it twice */
export const sendMessage = (teamId: string, message: SendReplyRequest, idempotencyKey: string) =>
  teamRequest<AcceptedMessage>(teamId, 'POST', '/messages/send', message, {
    'idempotency-key': idempotencyKey,
  });

export const optOut = (teamId: string, contact: string) =>
  teamRequest(teamId, 'PUT', `/opt-outs/${encodeURIComponent(contact)}`, {});

export const optIn = (teamId: string, contact: string) =>
  teamRequest(teamId, 'DELETE', `/opt-outs/${encodeURIComponent(contact)}`);

const pathOf = ({ phoneNumber, contact }: ConversationKey) =>
  `/conversations/${encodeURIComponent(phoneNumber)}/${encodeURIComponent(contact)}`;
