import type { Event, EventType } from './event.ts';
import {
  exampleTime as at,
  exampleContact as contact,
  exampleId,
  exampleIds as ids,
  exampleNumber as number,
} from './example-values.ts';

type Data<T extends EventType> = Extract<Event, { type: T }>['data'];

/** The envelope of an event, with its fields in the order in which the server writes them. */
function event<T extends EventType>(
  type: T,
  [number, time, sequence]: readonly [number: number, time: string, sequence: number],
  data: Data<T>,
) {
  return {
    id: exampleId('evt', number),
    type,
    timestamp: at(time),
    data,
    team_id: ids.team,
    api_version: 'v1' as const,
    sequence,
  };
}

const outbound = <S extends string>(status: S) => ({
  ...{ id: ids.message, from: number, to: contact, content: 'Your table is ready.', media_url: null },
  status,
  created_at: at('09:30:00'),
  sent_at: at('09:30:02'),
});

const iphone = { id: ids.number, phone_number: number, label: 'Support' };

/**
 * An example of each event, as the API reference shows it. Tests compare them with events that a webhook receives, and
 * their fields with docs/receive-events.md.
 */
export const eventExamples: {
  readonly [T in EventType]: Extract<Event, { type: T }>;
} = {
  'message.received': event('message.received', [3, '09:31:00', 1], {
    ...{ id: ids.reply, from: contact, to: number, content: 'Yes, see you then', media_url: null },
    received_at: at('09:31:00'),
  }),
  'message.sent': event('message.sent', [1, '09:30:02', 1], outbound('sent')),
  'message.delivered': event('message.delivered', [2, '09:30:04', 2], {
    ...outbound('delivered'),
    delivered_at: at('09:30:04'),
  }),
  'message.failed': event('message.failed', [5, '09:33:02', 1], {
    ...{ id: ids.failed, from: number, to: contact, content: 'See you at seven.', media_url: null },
    status: 'failed',
    created_at: at('09:33:00'),
    sent_at: null,
    failed_at: at('09:33:02'),
    error_code: 'device_error',
    error_message: 'The phone could not send the message. The phone said: no network',
    may_have_been_sent: false,
  }),
  'contact.opted_out': event('contact.opted_out', [7, '09:34:00', 1], {
    contact,
    phone_number: number,
    message_id: ids.stop,
    at: at('09:34:00'),
  }),
  'contact.opted_in': event('contact.opted_in', [8, '09:41:00', 2], {
    contact,
    phone_number: null,
    message_id: null,
    at: at('09:41:00'),
  }),
  'number.offline': event('number.offline', [9, '09:50:00', 1], {
    ...iphone,
    last_seen_at: at('09:45:00'),
    queued: 1,
  }),
  'number.online': event('number.online', [10, '09:55:00', 2], {
    ...iphone,
    last_seen_at: at('09:54:50'),
    queued: 0,
  }),
};
