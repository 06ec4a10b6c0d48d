import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EventType } from '#contract/event.ts';
import { writeContacts } from '#server/contacts/contact-store.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { mediaLink } from '#server/media/media-store.ts';
import { eventData, type MessageRow } from '#server/messages/message.ts';
import { publicId } from '#server/platform/ids.ts';
import { demoDomain } from '#server/platform/mail-address.ts';
import { dayOf, monthOf } from '#server/platform/time/calendar.ts';
import { bytesText, type DemoEvent, type DemoRows, type DemoText, readDemoTexts } from './demo-rows.ts';

/** A text, its message in the final state, and when the message was handed out; null if it never was. */
interface Made {
  readonly text: DemoText;
  readonly message: MessageRow;
  readonly handedOutAt: Date | null;
}

const picture = 'insurance-card.png';
const directions = 'directions.pdf';

/**
 * Makes the message of a text. An outcome in tables.txt has columns of the message; its times are seconds after the
 * text.
 */
function makeMessage(demo: DemoRows, services: Runtime, text: DemoText): Made {
  const { by, contact, content, number, hasFile } = text;
  const { handed_out_at, sent_at, delivered_at, failed_at, ...outcome } =
    demo.outcomes.get(text.outcome) ?? {};
  const timeOf = (seconds: unknown) =>
    typeof seconds === 'number' ? new Date(text.atMs + seconds * 1_000) : null;
  const id = demo.newId('msg', text.atMs);
  const isInbound = by === 'contact';
  const handles = [contact, demo.named(`${number}.phone`)];
  const [from_handle, to_handle] = isInbound ? handles : handles.reverse();
  const hasUrl = hasFile || outcome.media_failure !== null;
  const url = isInbound ? mediaLink(services, id, picture) : `https://files.${demoDomain}/${directions}`;
  const message = {
    ...outcome,
    team_id: demo.named('team'),
    id,
    number_id: demo.named(number),
    direction: isInbound ? 'inbound' : 'outbound',
    from_handle,
    to_handle,
    content,
    media_url: hasUrl ? url : null,
    is_group: false,
    possible_repeat: false,
    created_at: new Date(text.atMs),
    sent_at: timeOf(sent_at),
    delivered_at: timeOf(delivered_at),
    failed_at: timeOf(failed_at),
    sent_by: isInbound ? null : demo.named(by),
  } as unknown as MessageRow;
  return { text, message, handedOutAt: timeOf(handed_out_at) };
}

/** The events of a message, each with the state of the message at that time. */
function eventsOf(message: MessageRow): DemoEvent[] {
  const { id, number_id, direction, created_at } = message;
  const sent = { ...message, status: 'sent', delivered_at: null, failed_at: null, error_code: null } as const;
  const steps: [EventType, Date | null, MessageRow][] = [
    ['message.received', direction === 'inbound' ? created_at : null, message],
    ['message.sent', message.sent_at, sent],
    ['message.delivered', message.delivered_at, message],
    ['message.failed', message.failed_at, message],
  ];
  return steps
    .flatMap(([type, at, then]) => (at ? { type, at, data: eventData(then) } : []))
    .map((event, index) => ({ ...event, sequence: index + 1, number_id, message_id: id }));
}

/** Adds the hand-out of a message, and its place in the queue or at a phone. */
function addHandOut(demo: DemoRows, { config }: Runtime, { text, message, handedOutAt }: Made): void {
  const { id, number_id } = message;
  const of = { message_id: id, hand_out: 1, handed_out_at: handedOutAt };
  const phone = {
    device_id: demo.named(`${text.number}.device`),
    session_id: demo.named(`${text.number}.session`),
  };
  if (handedOutAt) {
    const resolvedAt = message.failed_at ?? message.sent_at;
    const unsent = message.may_have_been_sent ? 'unconfirmed' : 'failed';
    const outcome = message.failed_at ? unsent : 'sent';
    demo.add('hand_outs', { ...of, ...phone, outcome: resolvedAt && outcome, resolved_at: resolvedAt });
  }
  if (text.outcome === 'queued')
    demo.add('send_queue', {
      message_id: id,
      number_id,
      to_handle: text.contact,
      queued_at: message.created_at,
    });
  if (handedOutAt && text.outcome === 'polling') {
    const leasedUntil = new Date(handedOutAt.getTime() + config.deviceLeaseMs);
    demo.add('in_flight', {
      ...of,
      ...phone,
      number_id,
      poll_sequence: 1,
      seq: 0,
      leased_until: leasedUntil,
    });
  }
}

function addFile(demo: DemoRows, { id, direction, created_at }: MessageRow): void {
  const isInbound = direction === 'inbound';
  const name = isInbound ? picture : directions;
  const bytes = readFileSync(new URL(name, import.meta.url));
  const of = { message_id: id, file_id: 0 };
  demo.add('media', {
    ...of,
    name,
    type: isInbound ? 'image/png' : 'application/pdf',
    created_at,
    is_complete: true,
    size_bytes: bytes.length,
    sha256: bytesText(createHash('sha256').update(bytes).digest()),
  });
  demo.add('media_chunks', { ...of, position: 0, data: bytesText(bytes) });
}

/** Opts the sender of a message out. @returns the event */
function optOut(demo: DemoRows, { secrets }: Runtime, message: MessageRow): DemoEvent {
  const { id, created_at: at, from_handle: contact, to_handle: phoneNumber, number_id } = message;
  const optOutId = demo.newId('opt', at.getTime());
  demo.add('opt_outs', {
    contact_hash: secrets.contactHash(demo.named('team'), contact),
    contact,
    id: optOutId,
    sequence: 1,
    opted_out_at: at,
    message_id: id,
    phone_number: phoneNumber,
  });
  const messageId = publicId('msg', id);
  demo.audit(at, 'server', 'contact.opted_out', publicId('opt', optOutId), { message_id: messageId });
  const data = { contact, phone_number: phoneNumber, message_id: messageId, at: at.toISOString() };
  return { type: 'contact.opted_out', at, sequence: 1, number_id, contact, data };
}

/** As the SQL function conversation_id. */
function conversationIdOf(demo: DemoRows, { number, contact }: DemoText): string {
  const key = [demo.named('team'), demo.named(`${number}.phone`), contact].join(' ');
  return createHash('md5').update(key).digest('hex');
}

/**
 * Adds a conversation with the messages that were handed out or received, and how far the owner has read. A conversation
 * that does not wait for the team was answered, or marked as done.
 */
function addConversation(demo: DemoRows, made: readonly Made[]): void {
  const active = made.filter(({ text, handedOutAt }) => handedOutAt || text.by === 'contact');
  const timeOf = ({ message, handedOutAt }: Made) => handedOutAt ?? message.created_at;
  const [first, last, newest] = [active[0], active.at(-1), made.at(-1)];
  const inbound = active.findLast(({ text }) => text.by === 'contact');
  if (first && last)
    demo.add('conversations', {
      number_id: first.message.number_id,
      contact: first.text.contact,
      id: conversationIdOf(demo, first.text),
      opened_by: first.text.by === 'contact' ? 'contact' : 'team',
      opened_at: timeOf(first),
      last_inbound_at: inbound?.message.created_at ?? null,
      last_inbound_id: inbound?.message.id ?? null,
      answered_id: newest?.text.isWaiting && newest === inbound ? null : (inbound?.message.id ?? null),
      unanswered_count: active
        .slice(inbound ? active.indexOf(inbound) + 1 : 0)
        .filter(({ text }) => text.outcome !== 'device_error').length,
      last_activity_at: timeOf(last),
      last_message_id: last.message.id,
    });
  if (!newest || newest.text.isUnread) return;
  const { text, message } = newest;
  const key = { phone_number: demo.named(`${text.number}.phone`), contact: text.contact };
  demo.add('conversation_reads', { ...key, member_id: demo.named('maya'), read_until: message.id });
}

/** Adds the use. A simulated number counts in no month, and a message that fails before its hand-out is refunded. */
function addUsage(demo: DemoRows, made: readonly Made[]): void {
  const counted = made.filter(
    ({ text, message, handedOutAt }) => text.number !== 'frontDesk' && (handedOutAt || !message.failed_at),
  );
  const days = Map.groupBy(counted, ({ message }) => `${dayOf(message.created_at)} ${message.direction}`);
  for (const [key, { length: messages }] of days) {
    const [day, direction] = key.split(' ');
    demo.add('usage_days', { day, direction, messages });
  }
  const sent = counted.filter(({ message }) => message.direction === 'outbound');
  for (const [month, { length: accepted }] of Map.groupBy(sent, ({ message }) => monthOf(message.created_at)))
    demo.add('usage_months', { month, accepted });
}

/** Adds the messages of a demo, with everything that follows from them, except deliveries. */
export function addMessages(demo: DemoRows, services: Runtime): void {
  const made = readDemoTexts(demo.nowMs).map((text) => makeMessage(demo, services, text));
  for (const one of made) {
    demo.add('messages', { ...one.message });
    demo.events.push(...eventsOf(one.message));
    addHandOut(demo, services, one);
    const { id, failed_at: failedAt, error_code: error } = one.message;
    if (failedAt && error === 'cancelled')
      demo.audit(failedAt, 'priya', 'message.cancelled', publicId('msg', id), {});
    if (one.text.hasFile) addFile(demo, one.message);
    if (one.text.content === 'STOP') demo.events.push(optOut(demo, services, one.message));
  }
  for (const of of Map.groupBy(made, ({ text }) => `${text.number} ${text.contact}`).values())
    addConversation(demo, of);
  addUsage(demo, made);
}

/** Adds the people of a demo, with the handle of each. */
export async function addContacts(trx: Transaction, demo: DemoRows): Promise<void> {
  const named = readDemoTexts(demo.nowMs).filter(({ name }) => name !== undefined);
  const contacts = new Map(named.map(({ contact, name = '' }) => [contact, name]));
  const people = [...contacts].map(([handle, name]) => {
    return { id: demo.newId('con', demo.startMs), name, note: '', handles: [handle] };
  });
  await writeContacts(trx, demo.named('team'), people, new Date(demo.startMs));
}
