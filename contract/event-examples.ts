import type { Event, EventType } from './event.ts';
import {
  exampleTime as at,
  exampleContact as contact,
  exampleId,
  exampleIds as ids,
  exampleNumber as number,
} from './example-values.ts';

const content = 'Your table is ready.';

/** The fields of an envelope that the events of the examples share. */
const envelope = (number: number, timestamp: string, sequence: number) => ({
  id: exampleId('evt', number),
  timestamp,
  team_id: ids.team,
  api_version: 'v1' as const,
  sequence,
});

const sent = {
  ...{ id: ids.message, from: number, to: contact, content, media_url: null },
  created_at: at('09:30:00'),
  sent_at: at('09:30:02'),
};

const iphone = {
  id: ids.number,
  phone_number: number,
  label: 'Support',
  last_seen_at: at('09:45:00'),
};

/** An example of each event. The test of the story compares them with events that a webhook receives. */
export const eventExamples: { readonly [T in EventType]: Extract<Event, { type: T }> } = {
  'message.received': {
    ...envelope(3, at('09:31:00'), 1),
    type: 'message.received',
    data: {
      ...{ id: ids.reply, from: contact, to: number, content: 'Yes, see you then', media_url: null },
      received_at: at('09:31:00'),
    },
  },
  'message.sent': {
    ...envelope(1, at('09:30:02'), 1),
    type: 'message.sent',
    data: { ...sent, status: 'sent' },
  },
  'message.delivered': {
    ...envelope(2, at('09:30:04'), 2),
    type: 'message.delivered',
    data: { ...sent, status: 'delivered', delivered_at: at('09:30:04') },
  },
  'message.failed': {
    ...envelope(5, at('09:33:02'), 1),
    type: 'message.failed',
    data: {
      ...{ id: ids.failed, from: number, to: contact, content: 'See you at seven.', media_url: null },
      status: 'failed',
      created_at: at('09:33:00'),
      sent_at: null,
      failed_at: at('09:33:02'),
      error_code: 'device_error',
      error_message: 'The phone could not send the message. The phone said: no network',
      may_have_been_sent: false,
    },
  },
  'contact.opted_out': {
    ...envelope(7, at('09:34:00'), 1),
    type: 'contact.opted_out',
    data: { contact, phone_number: number, message_id: ids.stop, at: at('09:34:00') },
  },
  'contact.opted_in': {
    ...envelope(8, at('09:41:00'), 2),
    type: 'contact.opted_in',
    data: { contact, phone_number: null, message_id: null, at: at('09:41:00') },
  },
  'number.offline': {
    ...envelope(9, at('09:50:00'), 1),
    type: 'number.offline',
    data: { ...iphone, queued: 1 },
  },
  'number.online': {
    ...envelope(10, at('09:55:00'), 2),
    type: 'number.online',
    data: { ...iphone, last_seen_at: at('09:54:50'), queued: 0 },
  },
};
