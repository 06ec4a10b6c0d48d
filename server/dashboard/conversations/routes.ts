import {
  ConversationList,
  ConversationMessageList,
  ConversationRead,
  ConversationWaiting,
  ListConversationMessagesQuery,
  ListConversationsQuery,
  ListPublicConversationsQuery,
  MarkConversationReadRequest,
  PublicConversationList,
  SetWaitingRequest,
  WaitingConversations,
} from '#contract/conversation.ts';
import { MessageList } from '#contract/message.ts';
import { isE164 } from '#contract/phone-number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Principal, type Route, route } from '#server/http/route.ts';
import { parseContact } from '#server/opt-outs/contact.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId } from '#server/platform/ids.ts';
import {
  type ConversationKey,
  findReader,
  keyReader,
  listFacts,
  publicConversationView,
  type Reader,
} from './conversation-facts.ts';
import { listConversationMessages, listPublicMessages } from './conversation-messages.ts';
import { listConversationRows, listConversations } from './list-conversations.ts';
import { markConversationRead } from './mark-conversation-read.ts';
import { listConversationMessagesExamples, listConversationsExamples } from './route-examples.ts';
import { countWaitingConversations, setWaiting } from './waiting-conversations.ts';

const conversations = '/app/teams/:team_id/conversations';
const readers = { audience: 'team', permission: 'messages:read' } as const;

/** Routes of a team's conversations. For members, unread messages are those of the calling member. */
export function conversationRoutes(services: Runtime): Route[] {
  /** @throws AppError 404 if the member was removed meanwhile */
  const readerOf = async ({ teamId, actor }: Principal): Promise<Reader> => {
    const memberId = parseId('usr', actor.id);
    const reader = memberId && (await findReader(services.database.pool, teamId, memberId));
    if (!reader) throw notFound('team');
    return reader;
  };
  return [
    route('GET /v1/conversations', {
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'listConversations',
        tag: 'Conversations',
        summary: 'List conversations',
        description:
          'Lists the conversations of the team, the latest activity first. A conversation is one of the team’s numbers and a contact. It is `waiting` from a text of the contact until a person of the team, or a key with `answers_for_team`, answers it, or a person marks it as done.\n\nA conversation that gets a message while you read page after page moves to the first page.',
        examples: listConversationsExamples,
      },
      query: ListPublicConversationsQuery,
      answers: { 200: PublicConversationList },
      handle: async ({ principal: { teamId }, query }) => {
        const { rows, ...page } = await listConversationRows(services, teamId, keyReader, query);
        return { body: { conversations: rows.map(publicConversationView), ...page } };
      },
      ofMembers: {
        query: ListConversationsQuery,
        answers: { 200: ConversationList },
        handle: async ({ principal, query }) => ({
          body: await listConversations(services, principal.teamId, await readerOf(principal), query),
        }),
      },
    }),
    route('GET /v1/conversations/:id/messages', {
      ids: { id: 'cnv' },
      audience: 'api',
      permission: 'messages:read',
      text: {
        operationId: 'listConversationMessages',
        tag: 'Conversations',
        summary: 'List the messages of a conversation',
        description:
          'Lists the messages of a conversation in both directions, newest first, as `GET /v1/messages` does.',
        examples: listConversationMessagesExamples,
      },
      query: ListConversationMessagesQuery,
      answers: { 200: MessageList },
      handle: async ({ principal: { teamId }, ids: { id }, query }) => ({
        body: await listPublicMessages(services, teamId, id, query),
      }),
    }),
    route(`GET ${conversations}/waiting`, {
      ...readers,
      answers: { 200: WaitingConversations },
      handle: async ({ principal }) => ({
        body: await countWaitingConversations(services, principal.teamId),
      }),
    }),
    route(`PUT ${conversations}/:phone_number/:contact/waiting`, {
      audience: 'team',
      permission: 'messages:send',
      body: SetWaitingRequest,
      answers: { 200: ConversationWaiting },
      handle: async ({ principal, params, body }) => {
        const [reader, key] = [await readerOf(principal), keyOf(params)];
        await setWaiting(services, principal.teamId, key, body);
        const [facts] = await listFacts(services.database.pages, principal.teamId, [key], reader);
        return { body: { waiting: facts?.is_waiting ?? false } };
      },
    }),
    route(`GET ${conversations}/:phone_number/:contact/messages`, {
      ...readers,
      query: ListConversationMessagesQuery,
      answers: { 200: ConversationMessageList },
      handle: async ({ principal, params, query }) => {
        const [reader, key] = [await readerOf(principal), keyOf(params)];
        return { body: await listConversationMessages(services, principal.teamId, reader, key, query) };
      },
    }),
    route(`PUT ${conversations}/:phone_number/:contact/read`, {
      ...readers,
      body: MarkConversationReadRequest,
      answers: { 200: ConversationRead },
      handle: async ({ principal, params, body }) => {
        const messageId = parseId('msg', body.message_id);
        if (!messageId) throw notFound('message');
        const reader = await readerOf(principal);
        return {
          body: await markConversationRead(services, principal.teamId, reader, keyOf(params), messageId),
        };
      },
    }),
  ];
}

/** @throws AppError 404 if the text is no phone number; 400, param contact */
function keyOf({
  phone_number: phoneNumber = '',
  contact = '',
}: Readonly<Record<string, string>>): ConversationKey {
  if (!isE164(phoneNumber)) throw notFound('number');
  return { phoneNumber, contact: parseContact(contact) };
}
