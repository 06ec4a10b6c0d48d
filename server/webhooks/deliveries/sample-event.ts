import type { Event, EventType, MessageEventType } from '#contract/event.ts';
import { type EventId, publicId, type TeamId } from '#server/platform/ids/ids.ts';

interface Sample {
  readonly eventId: EventId;
  /** `msg_…` of no message. */
  readonly messageId: string;
  readonly teamId: TeamId;
  /** The webhook's own number, if it has one. */
  readonly number: string | null;
  readonly at: Date;
}

const someNumber = '+14155550100';
const somebody = '+14155550101';

/** The fields of each message type's data beside id, from, to, content and media_url (specification section 6.2). */
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

/** An envelope with the shape of a real one, about a message or contact that never existed. */
export function sampleEvent(type: EventType, { eventId, teamId, at, ...subject }: Sample): Event {
  const timestamp = at.toISOString();
  return {
    id: publicId('evt', eventId),
    type,
    timestamp,
    data:
      type === 'contact.opted_out' || type === 'contact.opted_in'
        ? contactData(subject, timestamp)
        : messageData(type, subject, timestamp),
    team_id: publicId('team', teamId),
    api_version: 'v1',
    sequence: type === 'message.delivered' || type === 'contact.opted_in' ? 2 : 1,
  };
}

type Subject = Pick<Sample, 'messageId' | 'number'>;

function messageData(type: MessageEventType, { messageId, number }: Subject, at: string): Event['data'] {
  const own = number ?? someNumber;
  const [from, to] = type === 'message.received' ? [somebody, own] : [own, somebody];
  const content = 'This is a test from Ownline.';
  return { id: messageId, from, to, content, media_url: null, ...more[type](at) };
}

function contactData({ messageId, number }: Subject, at: string): Event['data'] {
  return { contact: somebody, phone_number: number ?? someNumber, message_id: messageId, at };
}
