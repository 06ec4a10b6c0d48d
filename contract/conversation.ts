import { Type } from 'typebox';
import {
  contactOfRow,
  Message,
  MessageDetail,
  SendMessageRequest,
  senderOfRow as sender,
  waitingReasons,
} from './message.ts';
import { numberStatuses } from './number.ts';
import { healthStates } from './number-health.ts';
import { OptOut } from './opt-out.ts';
import { pageFields, pageQuery } from './paging.ts';
import { phoneNumber } from './phone-number.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

/** The highest count that a conversation returns: a client shows it as 99+. */
export const conversationCountMax = 100;

/** How many inbound messages come with the counts of waiting conversations. */
export const newestInboundMax = 5;

/* A conversation is one of the team's phone numbers and a contact. It holds the messages of every number resource
   that the team ever connected for that phone number, deleted ones included. */
const phone_number = Type.String({ description: 'The team’s number, in E.164.', examples: ['+14155550100'] });
const contact = Type.String({
  description:
    'The other side: a phone number in E.164, a mail address in lower case, or another handle. With phone_number it identifies the conversation.',
  examples: ['+14155550101'],
});
const simulated = Type.Optional(
  Type.Literal(true, {
    description: 'Present only if the server simulates the number’s iPhone: its messages reach no person.',
  }),
);
const unread_count = Type.Integer({
  description: `Received messages after the one up to which this member has read, ${conversationCountMax} at most.`,
});

const id = publicIdOf(
  'cnv',
  'The id of the conversation. It stays if the number is deleted and connected again.',
);
const waiting = Type.Boolean({
  description:
    'true: since the contact last wrote, no person of the team has answered or marked the conversation as done. A key answers only if it has answers_for_team.',
});
/** A conversation as one member sees it, with that member's unread count. */
export const Conversation = strictObject({
  id,
  phone_number,
  number_label: Type.String({ description: 'The number’s name, chosen by the team; "" if it has none.' }),
  number_removed: Type.Boolean({ description: 'true: the number was deleted, and nothing can be sent.' }),
  simulated,
  contact,
  ...contactOfRow,
  waiting,
  last_message: nullable(strictObject({ ...Message.properties, sender })),
  last_activity_at: timestamp(
    'When the latest message was received or handed to the phone, or the latest waiting message was accepted.',
  ),
  queued_count: Type.Integer({
    description: `Messages that wait for the phone, ${conversationCountMax} at most.`,
  }),
  opted_out: Type.Boolean({ description: 'true: sends to the contact are refused.' }),
  unread_count,
});
export type Conversation = Type.Static<typeof Conversation>;

/** GET /app/teams/:team_id/conversations */
export const ListConversationsQuery = strictObject({
  number: Type.Optional(phoneNumber('Only conversations of this number of the team.')),
  unread: Type.Optional(Type.Boolean({ description: 'true: only conversations with unread messages.' })),
  waiting: Type.Optional(Type.Boolean({ description: 'true: only conversations that wait for the team.' })),
  ...pageQuery('conversations'),
});
export type ListConversationsQuery = Type.Static<typeof ListConversationsQuery>;

export const ConversationList = strictObject({
  conversations: Type.Array(Conversation, { description: 'The latest activity first.' }),
  cursor: Type.String({ description: 'Send this value as `cursor` to get the next page.' }),
  has_more: Type.Boolean({ description: 'false at the end. A page with filters may be short, or empty.' }),
});
export type ConversationList = Type.Static<typeof ConversationList>;

/** GET /app/teams/:team_id/conversations/waiting */
export const WaitingConversations = strictObject({
  waiting_conversations: Type.Integer({
    description: `Conversations that wait for the team, ${conversationCountMax} at most.`,
  }),
  numbers: Type.Array(strictObject({ phone_number, waiting_conversations: Type.Integer() }), {
    description: 'The same for each number that has some.',
  }),
  newest_inbound: Type.Array(strictObject({ ...Message.properties, ...contactOfRow }), {
    description: `The latest ${newestInboundMax} messages of contacts, newest first: notifications show them.`,
  }),
});
export type WaitingConversations = Type.Static<typeof WaitingConversations>;

/** PUT /app/teams/:team_id/conversations/:phone_number/:contact/waiting */
export const SetWaitingRequest = strictObject({
  waiting: Type.Boolean({ description: 'false: done. true: the conversation waits again.' }),
  message_id: publicIdOf(
    'msg',
    'The newest message that the member has seen: done counts up to it. The conversation goes on waiting if the contact wrote later.',
  ),
});
export type SetWaitingRequest = Type.Static<typeof SetWaitingRequest>;

export const ConversationWaiting = strictObject({ waiting: Type.Boolean() });
export type ConversationWaiting = Type.Static<typeof ConversationWaiting>;

const { waiting_reason: _reason, contact_id: _contact, expected_at, ...ofMessage } = MessageDetail.properties;

/** A message of a conversation with its times, its sender and the reason of a failure. */
export const ConversationMessage = strictObject({
  ...ofMessage,
  sender,
});
export type ConversationMessage = Type.Static<typeof ConversationMessage>;

/** GET /app/teams/:team_id/conversations/:phone_number/:contact/messages */
export const ListConversationMessagesQuery = strictObject(pageQuery('messages'));
export type ListConversationMessagesQuery = Type.Static<typeof ListConversationMessagesQuery>;

export const ConversationMessageList = strictObject({
  number: strictObject(
    {
      id: publicIdOf('num', 'The id of the number; if it was deleted, its latest id.'),
      phone_number,
      label: Type.String({ description: 'The number’s name, chosen by the team; "" if it has none.' }),
      status: stringEnum(numberStatuses, { description: 'paused: nothing is handed to the phone.' }),
      verified: Type.Boolean({ description: 'false: no phone has polled for the number yet.' }),
      removed: Type.Boolean({ description: 'true: the number was deleted, and nothing can be sent.' }),
      simulated,
      health: stringEnum(healthStates, {
        description: 'Whether the number’s phone polls: the state of its health, as in GET /v1/numbers/:id.',
      }),
    },
    { description: 'The team’s number.' },
  ),
  id,
  contact,
  ...contactOfRow,
  contact_handles: Type.Array(Type.String(), {
    description: 'All handles of the named contact, this one included; empty without a name.',
  }),
  waiting,
  opt_out: nullable(OptOut),
  queued: nullable(
    strictObject(
      {
        message_id: publicIdOf('msg', 'The oldest waiting message; all other messages wait for it.'),
        reason: nullable(stringEnum(waitingReasons)),
        expected_at,
      },
      { description: 'Why the conversation’s messages wait; null if none waits.' },
    ),
  ),
  read_until: nullable(
    publicIdOf('msg', 'The message up to which this member has read; null: none was marked.'),
  ),
  unread_count,
  messages: Type.Array(ConversationMessage, {
    description: 'Newest first, both directions, waiting ones included.',
  }),
  ...pageFields('msg'),
});
export type ConversationMessageList = Type.Static<typeof ConversationMessageList>;

/** PUT /app/teams/:team_id/conversations/:phone_number/:contact/read */
export const MarkConversationReadRequest = strictObject({
  message_id: publicIdOf('msg', 'The newest message of the conversation that the member has seen.'),
});
export type MarkConversationReadRequest = Type.Static<typeof MarkConversationReadRequest>;

export const ConversationRead = strictObject({
  read_until: publicIdOf(
    'msg',
    'The message up to which the member has read now. It never becomes an older one.',
  ),
  unread_count,
});
export type ConversationRead = Type.Static<typeof ConversationRead>;

/** A message of a member: POST /app/teams/:team_id/messages/send. */
export const SendReplyRequest = strictObject({
  ...SendMessageRequest.properties,
  seen_message_id: Type.Optional(
    nullable(
      publicIdOf(
        'msg',
        'The newest message of the conversation that the writer saw; null: none. The conversation waits on if the contact wrote later.',
      ),
    ),
  ),
  seen_answer_id: Type.Optional(
    nullable(
      publicIdOf(
        'msg',
        'The newest message of the team that the writer saw; null: none; by default seen_message_id. If a later one answered the conversation, the reply is refused with 409 and that answer.',
      ),
    ),
  ),
  answer_anyway: Type.Optional(
    Type.Boolean({
      description: 'true: the reply is sent although the conversation was answered meanwhile.',
    }),
  ),
});
export type SendReplyRequest = Type.Static<typeof SendReplyRequest>;

/** The answer in an error 409 of a reply: the field `answer`. */
export const MeanwhileAnswer = strictObject({
  message: nullable(ConversationMessage, { description: 'null: it is being sent at this moment.' }),
});
export type MeanwhileAnswer = Type.Static<typeof MeanwhileAnswer>;

/** GET /v1/conversations: a conversation as the API shows it. */
export const PublicConversation = strictObject({
  id,
  phone_number,
  contact,
  ...contactOfRow,
  last_message_at: timestamp('When the latest message was received, handed to the phone, or accepted.'),
  waiting,
});
export type PublicConversation = Type.Static<typeof PublicConversation>;

export const PublicConversationList = strictObject({
  ...ConversationList.properties,
  conversations: Type.Array(PublicConversation, { description: 'The latest activity first.' }),
});

/** GET /v1/conversations */
const { unread: _unread, ...ofKeys } = ListConversationsQuery.properties;
export const ListPublicConversationsQuery = strictObject(ofKeys);
