import { Type } from 'typebox';
import { failureCodes, MessageDetail } from './message.ts';
import { nullable, publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

const { id, from, to, content, media_url, sent_at, group, possible_repeat } = MessageDetail.properties;
const common = { id, from, to, content, media_url };
const created_at = timestamp('When the message was accepted.');

/** The fields of an outbound message. @param status the state to which it changed */
const outbound = <S extends string>(status: S) => ({
  ...common,
  status: stringEnum([status], { description: `Always ${status}.` }),
  created_at,
});

const sentTime = timestamp('When the phone reported the message as sent.');

/** The inbound message by which a contact opted out or in; null if a request did it. */
const ofContact = (at: string) =>
  strictObject({
    contact: Type.String({
      description: 'A phone number in E.164, a mail address in lower case, or another handle.',
      examples: ['+14155550101'],
    }),
    phone_number: nullable(
      Type.String({
        description: 'The number that received the message; null if a request did it.',
        examples: ['+14155550100'],
      }),
    ),
    message_id: nullable(publicIdOf('msg', 'The inbound message that did it; null if a request did it.')),
    at: timestamp(at),
  });

const ofNumber = strictObject({
  id: publicIdOf('num', 'The id of the number.'),
  phone_number: Type.String({ description: 'The iPhone’s number, in E.164.', examples: ['+14155550100'] }),
  label: Type.String({
    description: 'The number’s name, chosen by the team; "" if it has none.',
    examples: ['Support'],
  }),
  last_seen_at: timestamp('When the iPhone last polled the server.'),
  queued: Type.Integer({
    minimum: 0,
    description: 'How many messages wait for the iPhone; 10,000 means that many or more.',
  }),
});

/** The schema of `data` for each event type (specification section 6.2). */
export const eventData = {
  'message.received': strictObject({
    ...common,
    received_at: timestamp('When the server received the message.'),
    group,
    possible_repeat,
  }),
  'message.sent': strictObject({ ...outbound('sent'), sent_at: sentTime }),
  'message.delivered': strictObject({
    ...outbound('delivered'),
    sent_at: sentTime,
    delivered_at: timestamp('When the phone reported the message as delivered.'),
  }),
  'message.failed': strictObject({
    ...outbound('failed'),
    sent_at,
    failed_at: timestamp('When the message failed.'),
    error_code: stringEnum(failureCodes, { description: 'Why the message failed.' }),
    error_message: Type.String({ description: 'The reason of the failure, in a sentence for a person.' }),
    may_have_been_sent: MessageDetail.properties.may_have_been_sent,
  }),
  'contact.opted_out': ofContact('When the contact opted out.'),
  'contact.opted_in': ofContact('When the contact opted in.'),
  'number.offline': ofNumber,
  'number.online': ofNumber,
} as const;
