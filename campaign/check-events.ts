import { type EventType, eventTypes } from './history.ts';
import { isEventType, type KnownEvent, type KnownMessage, type Ledger } from './ledger.ts';
import { type Violation, violation } from './violation.ts';

/** Every change has one event, and every event has a change (docs/specification.md sections 6.1 and 6.2). */
export function eventViolations(ledger: Ledger): Violation[] {
  const byMessage = ledger.eventsByMessage();
  const ofKnown = [...ledger.messages.values()].flatMap((message) => {
    const events = byMessage.get(message.id) ?? [];
    return [
      ...lost(ledger, message, events),
      ...doubled(events),
      ...uncaused(ledger, message, events),
      ...sequences(message, events),
      ...events.flatMap((event) => contents(message, event)),
    ];
  });
  const strangers = [...ledger.events.values()].filter((event) => !ledger.messages.has(event.message));
  const says = ({ id, message }: KnownEvent) => `${id} belongs to ${message}, which no client knows`;
  return [
    ...ofKnown,
    ...strangers.flatMap((event) => violation('event_without_cause', says(event), event.seen)),
  ];
}

const owedBy: Readonly<Record<string, readonly EventType[]>> = {
  sent: ['message.sent'],
  delivered: ['message.sent', 'message.delivered'],
  failed: ['message.failed'],
  received: ['message.received'],
};

/** Each answered report, and each final status of a message, has its event. */
function lost(
  { reportsAccepted, listed }: Ledger,
  message: KnownMessage,
  events: readonly KnownEvent[],
): Violation[] {
  const rows = reportsAccepted.get(message.id) ?? [];
  const end = listed.get(message.id)?.[0];
  const owed = new Set(
    [...rows.map((row) => row.outcome), end?.status ?? ''].flatMap((why) => owedBy[why] ?? []),
  );
  const missing = [...owed].filter((type) => !events.some((event) => event.type === type));
  return missing.flatMap((type) =>
    violation('event_lost', `${message.id} has no ${type}`, message.cause, ...rows, end),
  );
}

function doubled(events: readonly KnownEvent[]): Violation[] {
  return eventTypes.flatMap((type) => {
    const [first, other] = events.filter((event) => event.type === type);
    if (!first || !other) return [];
    const says = `${first.id} and ${other.id} report the same change of ${first.message}`;
    return violation('event_doubled', says, first.seen, other.seen);
  });
}

/** How often a file is fetched. A try that a kill ended counts (docs/specification.md section 3.2). */
const mediaTriesMax = 3;

/**
 * Each event of an outbound message needs a report of a phone. A time-out needs none, because the phone may not have
 * received the message. A file that was not fetched needs a kill in each try.
 */
function uncaused(
  { reportsSent, kills }: Ledger,
  message: KnownMessage,
  events: readonly KnownEvent[],
): Violation[] {
  const words = new Set((reportsSent.get(message.id) ?? []).map((row) => row.outcome));
  const isInterrupted = ({ data }: KnownEvent): boolean => {
    if (message.media === null || data.error_code !== 'media_unavailable') return false;
    const [since, until] = [data.created_at, data.failed_at].map((time) => Date.parse(String(time)));
    return kills.filter(({ at }) => at >= Number(since) && at <= Number(until)).length >= mediaTriesMax;
  };
  const isCaused = (event: KnownEvent): boolean => {
    if (message.direction === 'inbound') return event.type === 'message.received';
    if (event.type === 'message.failed')
      return event.data.error_code === 'device_timeout' || words.has('failed') || isInterrupted(event);
    if (event.type === 'message.delivered') return words.has('delivered');
    return event.type === 'message.sent' && (words.has('sent') || words.has('delivered'));
  };
  return events
    .filter((event) => !isCaused(event))
    .flatMap((event) =>
      violation('event_without_cause', `no action caused ${event.id} (${event.type})`, event.seen),
    );
}

/** Orders of events that the state table allows (docs/specification.md section 3.1). */
const orders = new Set([
  'received',
  'sent',
  'sent delivered',
  'failed',
  'failed sent',
  'failed sent delivered',
  'sent failed',
]);

function sequences(message: KnownMessage, events: readonly KnownEvent[]): Violation[] {
  if (events.length === 0) return [];
  const counted = events.every((event, index) => event.sequence === index + 1);
  const types = events.map((event) => event.type.replace('message.', '')).join(' ');
  if (counted && orders.has(types)) return [];
  const told = events.map((event) => `${event.sequence} ${event.type}`).join(', ');
  const seen = events.map((event) => event.seen);
  return violation('sequence_broken', `the events of ${message.id} are ${told}`, ...seen);
}

/** An event shows the message as it was accepted, and belongs to the message's team. */
function contents(message: KnownMessage, event: KnownEvent): Violation[] {
  const { id, data, envelope, seen } = event;
  const expected: Readonly<Record<string, unknown>> = {
    from: message.from,
    to: message.to,
    content: message.content,
    media_url: message.media,
    ...(message.direction === 'outbound' ? { status: event.type.replace('message.', '') } : {}),
  };
  const field = Object.keys(expected).find((name) => data[name] !== expected[name]);
  const isWhole =
    isEventType(event.type) &&
    envelope.api_version === 'v1' &&
    !Number.isNaN(Date.parse(String(envelope.timestamp)));
  const ofTeam = `${id} says it is of ${event.team}`;
  const ofField = `${field} of ${id} is not the message's`;
  return [
    ...(event.team === message.team ? [] : violation('event_of_another_team', ofTeam, message.cause, seen)),
    ...(field ? violation('event_changed', ofField, message.cause, seen) : []),
    ...(isWhole ? [] : violation('event_changed', `${id} is not a whole envelope`, seen)),
  ];
}
