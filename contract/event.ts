import { type TSchema, Type } from 'typebox';
import { eventData } from './event-data.ts';
import { publicIdOf, strictObject, stringEnum, timestamp } from './schema.ts';

export const messageEventTypes = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.failed',
] as const;
export type MessageEventType = (typeof messageEventTypes)[number];

const contactEventTypes = ['contact.opted_out', 'contact.opted_in'] as const;
export type ContactEventType = (typeof contactEventTypes)[number];

const numberEventTypes = ['number.offline', 'number.online'] as const;
export type NumberEventType = (typeof numberEventTypes)[number];

export const eventTypes = [...messageEventTypes, ...contactEventTypes, ...numberEventTypes] as const;
export type EventType = (typeof eventTypes)[number];

const envelope = <T extends EventType>(type: T) =>
  strictObject({
    id: publicIdOf(
      'evt',
      'The id of the event. A repeat of the event has the same id, so drop repeats by it.',
    ),
    type: stringEnum([type], { description: 'The type of the event, which decides the fields of data.' }),
    timestamp: timestamp('When the event was recorded.'),
    data: eventData[type],
    team_id: publicIdOf('team', 'The team whose event it is.'),
    api_version: stringEnum(['v1'], { description: 'The version of the API that defines data.' }),
    sequence: Type.Integer({
      minimum: 1,
      description:
        'The position of the event among those of its message, contact or number: 1, 2, 3 … Order these events by it.',
    }),
  });

/** The envelope of each event type, in deliveries and in the feed (specification section 6.2). */
export const eventEnvelopes = {
  'message.received': envelope('message.received'),
  'message.sent': envelope('message.sent'),
  'message.delivered': envelope('message.delivered'),
  'message.failed': envelope('message.failed'),
  'contact.opted_out': envelope('contact.opted_out'),
  'contact.opted_in': envelope('contact.opted_in'),
  'number.offline': envelope('number.offline'),
  'number.online': envelope('number.online'),
} as const satisfies Readonly<Record<EventType, TSchema>>;

export type Event = { [T in EventType]: Type.Static<(typeof eventEnvelopes)[T]> }[EventType];

/** Any event: `type` decides the fields of `data`. */
export const Event = Type.Unsafe<Event>({
  anyOf: Object.values(eventEnvelopes),
  discriminator: { propertyName: 'type' },
});

const feedWaitMaxSeconds = 25;
export const feedLimitDefault = 50;

/** GET /v1/events (specification section 4.5). */
export const ListEventsQuery = strictObject({
  after: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'The id of an event: the page has the events after it. An unknown id stands for the time that it contains. Without `after`, the page begins with the oldest event that is kept.',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: feedWaitMaxSeconds,
      default: 0,
      description: 'How many seconds the request waits for an event if there is none yet.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: feedLimitDefault,
      description: 'How many events a page has at most.',
    }),
  ),
});
export type ListEventsQuery = Type.Static<typeof ListEventsQuery>;

export const EventList = strictObject({
  events: Type.Array(Event, { description: 'Oldest first.' }),
  cursor: Type.String({
    description:
      'Send this value as `after` to get the next events. On an empty page it equals the `after` of the request, or "" without one.',
    examples: ['evt_01h2xcejqtf2nbrexx3vqjhp41'],
  }),
  has_more: Type.Boolean({ description: 'false: there are no further events yet.' }),
  gap: Type.Boolean({
    description:
      'true: an event after `after` may have been deleted before you read it, or `after` is unknown. Compare your data with the lists of messages once, when `gap` turns true: it stays true, also on empty pages, until you have read a newer event. The page has all events that are kept.',
  }),
});
export type EventList = Type.Static<typeof EventList>;
