import type { Event, EventType } from '#contract/event.ts';
import { type EventId, publicId, type TeamId } from '#server/platform/ids/ids.ts';

interface Sample {
  readonly eventId: EventId;
  /** A public id that belongs to no message. */
  readonly messageId: string;
  readonly teamId: TeamId;
  /** The number whose events the webhook gets; null if the webhook gets the events of all numbers. */
  readonly number: string | null;
  readonly at: Date;
}

const someNumber = '+14155550100';
const somebody = '+14155550101';
const content = 'This is a test from Ownline.';

/** Creates a sample envelope, like that of a real event, about a message, contact or number that does not exist. */
export function sampleEvent(type: EventType, { eventId, teamId, at, ...subject }: Sample): Event {
  const timestamp = at.toISOString();
  return {
    id: publicId('evt', eventId),
    type,
    timestamp,
    data: samples[type](subject, timestamp),
    team_id: publicId('team', teamId),
    api_version: 'v1',
    sequence: secondTypes.has(type) ? 2 : 1,
  } as Event;
}

/** Event types that always follow another event of the same message, contact or number. */
const secondTypes: ReadonlySet<EventType> = new Set([
  'message.delivered',
  'contact.opted_in',
  'number.online',
]);

type Subject = Pick<Sample, 'messageId' | 'number'>;

const samples: {
  readonly [T in EventType]: (subject: Subject, at: string) => Extract<Event, { type: T }>['data'];
} = {
  'message.received': ({ messageId, number }, at) => ({
    ...{ id: messageId, from: somebody, to: number ?? someNumber, content, media_url: null },
    received_at: at,
  }),
  'message.sent': (subject, at) => ({ ...outbound(subject, 'sent', at), sent_at: at }),
  'message.delivered': (subject, at) => ({
    ...outbound(subject, 'delivered', at),
    sent_at: at,
    delivered_at: at,
  }),
  'message.failed': (subject, at) => ({
    ...outbound(subject, 'failed', at),
    sent_at: null,
    failed_at: at,
    error_code: 'expired',
    error_message: 'This is a test: no message failed.',
    may_have_been_sent: false,
  }),
  'contact.opted_out': contactData,
  'contact.opted_in': contactData,
  'number.offline': numberData,
  'number.online': numberData,
};

function outbound<S extends string>({ messageId, number }: Subject, status: S, at: string) {
  const from = number ?? someNumber;
  return { id: messageId, from, to: somebody, content, media_url: null, status, created_at: at };
}

function contactData({ messageId, number }: Subject, at: string) {
  return { contact: somebody, phone_number: number ?? someNumber, message_id: messageId, at };
}

/** A public id that belongs to no number. */
const someNumberId = 'num_00000000000000000000000000';

function numberData({ number }: Subject, at: string) {
  return {
    id: someNumberId,
    phone_number: number ?? someNumber,
    label: 'This is a test',
    last_seen_at: at,
    queued: 0,
  };
}
