import { Type } from 'typebox';
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

/** The envelope of an event, in deliveries and in the feed (specification section 6.2). */
export const Event = strictObject({
  id: publicIdOf('evt', 'The id of the event. It is the same in each repeat, so drop repeats by it.'),
  type: stringEnum(eventTypes, { description: 'The type of the event.' }),
  timestamp: timestamp('When it happened.'),
  data: Type.Object(
    {},
    {
      description: 'The message, the contact or the number, with the fields that the type of the event has.',
    },
  ),
  team_id: publicIdOf('team', 'The team whose event it is.'),
  api_version: stringEnum(['v1'], { description: 'The version that the shape of data belongs to.' }),
  sequence: Type.Integer({
    minimum: 1,
    description: '1, 2, 3 … per message, contact or number, to put its events in order.',
  }),
});
export type Event = Type.Static<typeof Event>;

const feedWaitMaxSeconds = 25;
export const feedLimitDefault = 50;

/** GET /v1/events (specification section 4.5). */
export const ListEventsQuery = strictObject({
  after: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The id of an event: the page begins after it. Left out, with the oldest kept.',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: feedWaitMaxSeconds,
      default: 0,
      description: 'Seconds to wait for an event where there is none yet.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: feedLimitDefault,
      description: 'Events on a page.',
    }),
  ),
});
export type ListEventsQuery = Type.Static<typeof ListEventsQuery>;

export const EventList = strictObject({
  events: Type.Array(Event, { description: 'Oldest first.' }),
  cursor: Type.String({
    description:
      'Send it as after to get the next events. On an empty page it equals after, or "" without one.',
    examples: ['evt_01h2xcejqtf2nbrexx3vqjhp41'],
  }),
  has_more: Type.Boolean({ description: 'false at the end.' }),
});
export type EventList = Type.Static<typeof EventList>;
