import { Type } from 'typebox';
import { pageFields, pageQuery } from './paging.ts';
import { phoneNumber } from './phone-number.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';
import { urlMaxCharacters } from './url.ts';

export const messageStatuses = ['queued', 'polling', 'sent', 'delivered', 'failed', 'received'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

export const directions = ['inbound', 'outbound'] as const;
export type Direction = (typeof directions)[number];

export const contentMaxCharacters = 5_000;

/** Why a message failed (specification section 3.2). */
export const failureCodes = [
  'expired',
  'cancelled',
  'number_removed',
  'opted_out',
  'media_unavailable',
  'media_too_large',
  'device_timeout',
  'device_error',
  'not_delivered',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** Why a queued message has not been handed out yet (specification section 4.3). */
export const waitingReasons = [
  'restore_hold',
  'held_after_outage',
  'number_paused',
  'phone_offline',
  'media_fetching',
  'phone_busy',
  'pacing_gap',
  'pacing_hour',
  'pacing_day',
  'pacing_new_contacts',
  'pacing_unanswered',
  'earlier_message',
] as const;
export type WaitingReason = (typeof waitingReasons)[number];

export const SendMessageRequest = strictObject({
  to: phoneNumber('The recipient, in E.164. It must be another number than `from`.', '+14155550101'),
  from: phoneNumber('The number of the team that sends, in E.164. It must be verified and not paused.'),
  content: Type.String({
    maxLength: contentMaxCharacters,
    description: `The text, 1 to ${contentMaxCharacters.toLocaleString('en')} characters, at least one of them visible.`,
    examples: ['Your table is ready.'],
  }),
  media_url: Type.Optional(
    nullable(
      Type.String({
        maxLength: urlMaxCharacters,
        description:
          'The HTTPS address of a picture, video, sound or PDF of at most 5 MB. It needs the plan starter or higher. null or "": no media.',
      }),
    ),
  ),
  media_id: Type.Optional(
    nullable(
      publicIdOf(
        'med',
        'A file of `POST /v1/media`, instead of `media_url`. It needs the plan starter or higher.',
      ),
    ),
  ),
});
export type SendMessageRequest = Type.Static<typeof SendMessageRequest>;

const id = publicIdOf('msg', 'The id of the message.');
const to = Type.String({ description: 'The recipient.', examples: ['+14155550101'] });
const from = Type.String({
  description:
    'The sender. For an inbound message it is the handle that the iPhone reports: a phone number, a mail address in lower case, or a short code.',
  examples: ['+14155550100'],
});
const content = Type.String({ description: 'The text.', examples: ['Your table is ready.'] });
const media_url = nullable(
  Type.String({
    description:
      'Outbound: the address in the request, or the link to the file of `media_id`. Inbound: the link to the file that the iPhone received. null without media.',
  }),
);
const created_at = timestamp('When the server accepted the outbound message, or received the inbound one.');

/** The 202 of POST /v1/messages/send (specification section 4.3). Its status is always `queued`. */
export const AcceptedMessage = strictObject({
  id,
  status: stringEnum(['queued'], { description: 'Always queued, even in the answer to a repeated request.' }),
  to,
  from,
  content,
  media_url,
  created_at,
});
export type AcceptedMessage = Type.Static<typeof AcceptedMessage>;

const group = Type.Optional(
  Type.Literal(true, {
    description:
      'Present only if the iPhone received the message in a group: `from` alone does not identify the conversation.',
  }),
);

const possible_repeat = Type.Optional(
  Type.Literal(true, {
    description:
      'Present only if the received message may be a late repeat of an earlier, equal one that not all automations of the iPhone had passed on. Do not drop the message, because it may be a new answer.',
  }),
);

/** A message as GET /v1/messages lists it (specification sections 2.6 and 4.3). */
export const Message = strictObject({
  id,
  to,
  from,
  content,
  media_url,
  status: stringEnum(messageStatuses, {
    description: 'The current status of an outbound message; always received for an inbound one.',
  }),
  direction: stringEnum(directions),
  created_at,
  delivered_at: nullable(timestamp('When the phone reported the message as delivered.')),
  group,
  possible_repeat,
});
export type Message = Type.Static<typeof Message>;

/** The contact that has a handle, with its name. */
export const contactOfRow = {
  contact_id: nullable(publicIdOf('con', 'The contact that has this handle; null if none has it.')),
  name: nullable(Type.String({ description: 'The name of that contact.', examples: ['Ada Example'] })),
};
export const MessageSender = strictObject({
  kind: stringEnum(['key', 'member']),
  id: Type.String({ description: 'key_… or usr_….' }),
  name: Type.String({ description: 'The name of the key, or of the person.' }),
});
export type MessageSender = Type.Static<typeof MessageSender>;

export const senderOfRow = nullable(MessageSender, {
  description:
    'The key or the member that sent the message; null for an inbound message, and if the sender is not known.',
});

/** A message in the log of the dashboard, which adds its people and the reason of a failure. */
export const ListedMessage = strictObject({
  ...Message.properties,
  ...contactOfRow,
  sender: senderOfRow,
  error_code: nullable(stringEnum(failureCodes, { description: 'Why it failed; null otherwise.' })),
});
export type ListedMessage = Type.Static<typeof ListedMessage>;

/** GET /v1/messages/:id: a message with its times and reasons (specification sections 2.6 and 4.3). */
export const MessageDetail = strictObject({
  ...Message.properties,
  sent_at: nullable(timestamp('When the phone reported the message as sent.')),
  failed_at: nullable(timestamp('When the message failed.')),
  error_code: nullable(stringEnum(failureCodes, { description: 'Why it failed; null otherwise.' })),
  error_message: nullable(
    Type.String({ description: 'Why the message failed, in a sentence for a person.' }),
  ),
  waiting_reason: nullable(
    stringEnum(waitingReasons, { description: 'Why a queued message has not been handed to the phone yet.' }),
  ),
  expected_at: nullable(
    timestamp(
      'When pacing is expected to let a queued message go. The estimate assumes gaps of the mean length, and that each message ahead that may open a conversation does so. null if pacing does not delay the message, if something else delays it too, if it needs a reply first, or if more than 10,000 messages (1,000 under strict) are ahead.',
    ),
  ),
  may_have_been_sent: Type.Boolean({
    description: 'true if a phone took the message and never reported the outcome.',
  }),
  contact_id: nullable(
    publicIdOf('con', 'The contact that has the handle of the other side; null if none has it.'),
  ),
});
export type MessageDetail = Type.Static<typeof MessageDetail>;

/** GET /v1/messages (specification section 4.3). */
export const ListMessagesQuery = strictObject({
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        'Only messages from this sender: a number, a mail address in upper or lower case, or any other handle.',
    }),
  ),
  to: Type.Optional(phoneNumber('Only messages to this recipient.')),
  status: Type.Optional(
    stringEnum(messageStatuses, { description: 'Only messages that have this status now.' }),
  ),
  direction: Type.Optional(
    stringEnum(directions, { description: 'Only inbound, or only outbound messages.' }),
  ),
  ...pageQuery('messages'),
});
export type ListMessagesQuery = Type.Static<typeof ListMessagesQuery>;

export const MessageList = strictObject({
  messages: Type.Array(Message, { description: 'Newest first.' }),
  ...pageFields('msg'),
});
export type MessageList = Type.Static<typeof MessageList>;

/** GET /app/teams/:team_id/messages. */
export const MessageLog = strictObject({
  messages: Type.Array(ListedMessage, { description: 'Newest first.' }),
  ...pageFields('msg'),
});
export type MessageLog = Type.Static<typeof MessageLog>;
