import {
  ConversationList,
  ConversationMessageList,
  ConversationRead,
  ConversationWaiting,
  ListConversationMessagesQuery,
  ListConversationsQuery,
  MarkConversationReadRequest,
  SetWaitingRequest,
  WaitingConversations,
} from '#contract/conversation.ts';
import { isE164 } from '#contract/phone-number.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Principal, type Route, route } from '#server/http/route.ts';
import { parseContact } from '#server/opt-outs/contact.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId } from '#server/platform/ids.ts';
import { type ConversationKey, findReader, listFacts, type Reader } from './conversation-facts.ts';
import { listConversationMessages } from './conversation-messages.ts';
import { listConversations } from './list-conversations.ts';
import { markConversationRead } from './mark-conversation-read.ts';
import { countWaitingConversations, setWaiting } from './waiting-conversations.ts';

const conversations = '/app/teams/:team_id/conversations';
const readers = { audience: 'team', permission: 'messages:read' } as const;

/** Routes of a team's conversations; unread messages are those of the calling member. */
export function conversationRoutes(services: Runtime): Route[] {
  /** @throws AppError 404 if the member was removed meanwhile */
  const readerOf = async ({ teamId, actor }: Principal): Promise<Reader> => {
    const memberId = parseId('usr', actor.id);
    const reader = memberId && (await findReader(services.database.pool, teamId, memberId));
    if (!reader) throw notFound('team');
    return reader;
  };
  return [
    route(`GET ${conversations}`, {
      ...readers,
      query: ListConversationsQuery,
      answers: { 200: ConversationList },
      handle: async ({ principal, query }) => ({
        body: await listConversations(services, principal.teamId, await readerOf(principal), query),
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
