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
          'The HTTPS address of a picture, video, sound or PDF of at most 5 MB. It needs the plan starter or higher. null or "" is none.',
      }),
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
      'Outbound, the address that was sent; inbound, the link of the file that the iPhone received. null for none.',
  }),
);
const created_at = timestamp('When it was accepted or received.');

/** The 202 of POST /v1/messages/send (specification section 4.3). Its status is always `queued`. */
export const AcceptedMessage = strictObject({
  id,
  status: stringEnum(['queued'], { description: 'Always queued, also in the answer to a repeat.' }),
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
      'Only in a message that the iPhone received in a group: `from` alone does not identify the conversation.',
  }),
);

const possible_repeat = Type.Optional(
  Type.Literal(true, {
    description:
      'Only in a received message that may be a late repeat of an equal one: the iPhone had not passed that one on by each of its automations. Do not drop it: it may be another answer.',
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
    description: 'The current state of an outbound message; received for inbound ones.',
  }),
  direction: stringEnum(directions),
  created_at,
  delivered_at: nullable(timestamp('When the device reported it as delivered.')),
  group,
  possible_repeat,
});
export type Message = Type.Static<typeof Message>;

/** A message in the lists of the dashboard, which add the reason of a failure. */
export const ListedMessage = strictObject({
  ...Message.properties,
  error_code: nullable(stringEnum(failureCodes, { description: 'Why it failed; null otherwise.' })),
});
export type ListedMessage = Type.Static<typeof ListedMessage>;

/** GET /v1/messages/:id: a message with its times and reasons (specification sections 2.6 and 4.3). */
export const MessageDetail = strictObject({
  ...Message.properties,
  sent_at: nullable(timestamp('When the phone reported it as sent.')),
  failed_at: nullable(timestamp('When it failed.')),
  error_code: nullable(stringEnum(failureCodes, { description: 'Why it failed; null otherwise.' })),
  error_message: nullable(Type.String({ description: 'The same in a sentence for a person.' })),
  waiting_reason: nullable(
    stringEnum(waitingReasons, { description: 'Why a queued message has not been handed to the phone yet.' }),
  ),
  expected_at: nullable(
    timestamp(
      'The estimated time at which pacing allows a queued message, if the messages ahead go with gaps of the mean length, and all of them to new contacts that could. null if pacing does not delay it or something else does too, if it needs a reply first, and behind more than 10,000 messages (1,000 under strict).',
    ),
  ),
  may_have_been_sent: Type.Boolean({
    description: 'true where a phone took it and never reported the outcome.',
  }),
});
export type MessageDetail = Type.Static<typeof MessageDetail>;

/** GET /v1/messages (specification section 4.3). */
export const ListMessagesQuery = strictObject({
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Only from this sender: a number, a mail address in any case, or any other handle.',
    }),
  ),
  to: Type.Optional(phoneNumber('Only to this recipient.')),
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
