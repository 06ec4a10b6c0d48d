import type { Event, EventType, MessageEventType } from '#contract/event.ts';
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

/** The data of each message event type beside id, from, to, content and media_url (specification section 6.2). */
const more: Readonly<Record<MessageEventType, (at: string) => Readonly<Record<string, unknown>>>> = {
  'message.received': (at) => ({ received_at: at }),
  'message.sent': (at) => ({ status: 'sent', created_at: at, sent_at: at }),
  'message.delivered': (at) => ({ status: 'delivered', created_at: at, sent_at: at, delivered_at: at }),
  'message.failed': (at) => ({
    status: 'failed',
    created_at: at,
    sent_at: null,
    failed_at: at,
    error_code: 'expired',
    error_message: 'This is a test: no message failed.',
    may_have_been_sent: false,
  }),
};

/** Creates a sample envelope, like that of a real event, about a message, contact or number that does not exist. */
export function sampleEvent(type: EventType, { eventId, teamId, at, ...subject }: Sample): Event {
  const timestamp = at.toISOString();
  return {
    id: publicId('evt', eventId),
    type,
    timestamp,
    data: sampleData(type, subject, timestamp),
    team_id: publicId('team', teamId),
    api_version: 'v1',
    sequence: secondTypes.has(type) ? 2 : 1,
  };
}

/** Event types that always follow another event of the same message, contact or number. */
const secondTypes: ReadonlySet<EventType> = new Set([
  'message.delivered',
  'contact.opted_in',
  'number.online',
]);

type Subject = Pick<Sample, 'messageId' | 'number'>;

function sampleData(type: EventType, subject: Subject, at: string): Event['data'] {
  switch (type) {
    case 'contact.opted_out':
    case 'contact.opted_in':
      return contactData(subject, at);
    case 'number.offline':
    case 'number.online':
      return numberData(subject, at);
    default:
      return messageData(type, subject, at);
  }
}

function messageData(type: MessageEventType, { messageId, number }: Subject, at: string): Event['data'] {
  const own = number ?? someNumber;
  const [from, to] = type === 'message.received' ? [somebody, own] : [own, somebody];
  const content = 'This is a test from Ownline.';
  return { id: messageId, from, to, content, media_url: null, ...more[type](at) };
}

function contactData({ messageId, number }: Subject, at: string): Event['data'] {
  return { contact: somebody, phone_number: number ?? someNumber, message_id: messageId, at };
}

/** A public id that belongs to no number. */
const someNumberId = 'num_00000000000000000000000000';

function numberData({ number }: Subject, at: string): Event['data'] {
  return {
    id: someNumberId,
    phone_number: number ?? someNumber,
    label: 'This is a test',
    last_seen_at: at,
    queued: 0,
  };
}
