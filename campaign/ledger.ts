import { type Envelope, type EventType, eventTypes, type Row, rowsOf } from './history.ts';

/** A message as the clients know it: a sender's request, or a text that a phone passed on. */
export interface KnownMessage {
  readonly id: string;
  readonly team: string;
  readonly number: string;
  readonly direction: 'outbound' | 'inbound';
  readonly from: string;
  readonly to: string;
  readonly content: string;
  readonly media: string | null;
  /** The answer by which the service accepted the message: a 202, or the answer to an inbound text. */
  readonly cause: Row;
}

/** An event that a webhook receiver or a feed reader saw. */
export interface KnownEvent {
  readonly id: string;
  readonly type: string;
  readonly team: unknown;
  readonly message: string;
  readonly sequence: unknown;
  readonly data: Envelope;
  readonly envelope: Envelope;
  /** The row in which the event was seen first. */
  readonly seen: Row;
}

export interface KnownDelivery {
  readonly row: Row<'delivery_received'>;
  /** The event in the body; undefined if the body is no JSON object. */
  readonly event: KnownEvent | undefined;
  readonly webhook: Row<'webhook_created'> | undefined;
  readonly answer: Row<'delivery_answered'> | undefined;
}

/** Indexes the rows of a record for the rules of the checker. */
export class Ledger {
  readonly rows: readonly Row[];
  readonly webhooks: readonly Row<'webhook_created'>[];
  readonly kills: readonly Row<'process_killed'>[];
  readonly teamOfNumber = new Map<string, string>();
  readonly sendRequests = new Map<string, Row<'send_requested'>>();
  readonly accepted: readonly Row<'send_accepted'>[];
  readonly inboundTexts: readonly Row<'inbound_accepted'>[];
  readonly messages = new Map<string, KnownMessage>();
  readonly listed: ReadonlyMap<string, Row<'message_listed'>[]>;
  readonly handOutsByMessage: ReadonlyMap<string, Row<'handed_out'>[]>;
  readonly reportsSent: ReadonlyMap<string, Row<'report_sent'>[]>;
  readonly reportsAccepted: ReadonlyMap<string, Row<'report_accepted'>[]>;
  readonly events = new Map<string, KnownEvent>();
  readonly deliveries: readonly KnownDelivery[];

  constructor(rows: readonly Row[]) {
    this.rows = rows;
    this.webhooks = rowsOf(rows, 'webhook_created');
    this.kills = rowsOf(rows, 'process_killed');
    for (const { team, numbers } of rowsOf(rows, 'team_ready'))
      for (const number of numbers) this.teamOfNumber.set(number, team);
    for (const row of rowsOf(rows, 'send_requested')) this.sendRequests.set(keyOf(row.team, row.key), row);
    this.accepted = rowsOf(rows, 'send_accepted');
    this.inboundTexts = rowsOf(rows, 'inbound_accepted');
    this.listed = group(rowsOf(rows, 'message_listed'), (row) => row.message);
    this.handOutsByMessage = group(rowsOf(rows, 'handed_out'), (row) => row.message);
    this.reportsSent = group(rowsOf(rows, 'report_sent'), (row) => row.message);
    this.reportsAccepted = group(rowsOf(rows, 'report_accepted'), (row) => row.message);
    this.#knowMessages();
    this.deliveries = this.#knowDeliveries();
    for (const row of rowsOf(rows, 'feed_read')) for (const envelope of row.events) this.#know(envelope, row);
  }

  /** Groups events by message, in the order of their sequence numbers. */
  eventsByMessage(): Map<string, KnownEvent[]> {
    const grouped = group([...this.events.values()], (event) => event.message);
    for (const events of grouped.values()) events.sort((a, b) => Number(a.sequence) - Number(b.sequence));
    return grouped;
  }

  #knowMessages(): void {
    for (const row of this.accepted) {
      const request = this.sendRequests.get(keyOf(row.team, row.key));
      if (!request || this.messages.has(row.message)) continue;
      const { from, to, content, media = null } = request;
      const known = { id: row.message, team: row.team, number: from, from, to, content, media, cause: row };
      this.messages.set(row.message, { ...known, direction: 'outbound' });
    }
    const texts = new Map(
      rowsOf(this.rows, 'inbound_sent').map((row) => [keyOf(row.number, row.text_id), row] as const),
    );
    for (const row of this.inboundTexts) {
      const text = texts.get(keyOf(row.number, row.text_id));
      if (!text || this.messages.has(row.message)) continue;
      const { number, from, text: content } = text;
      const team = this.teamOfNumber.get(number) ?? '';
      const known = { id: row.message, team, number, from, to: number, content, media: null, cause: row };
      this.messages.set(row.message, { ...known, direction: 'inbound' });
    }
  }

  #knowDeliveries(): KnownDelivery[] {
    const webhooks = new Map(this.webhooks.map((row) => [row.webhook, row]));
    const answers = new Map(rowsOf(this.rows, 'delivery_answered').map((row) => [row.request, row]));
    return rowsOf(this.rows, 'delivery_received').map((row) => {
      const envelope = parseEnvelope(row.body);
      return {
        row,
        event: envelope && this.#know(envelope, row),
        webhook: webhooks.get(row.webhook),
        answer: answers.get(row.request),
      };
    });
  }

  /** Keeps the first copy of an event that was seen. The rules compare later copies with it. */
  #know(envelope: Envelope, seen: Row): KnownEvent {
    const id = String(envelope.id);
    const data = isObject(envelope.data) ? envelope.data : {};
    const event = {
      id,
      type: String(envelope.type),
      team: envelope.team_id,
      message: String(data.id),
      sequence: envelope.sequence,
      data,
      envelope,
      seen,
    };
    if (!this.events.has(id)) this.events.set(id, event);
    return event;
  }
}

/** Whether a webhook gets events of this type and number (docs/specification.md section 6.3). */
export function matches(
  webhook: Row<'webhook_created'>,
  team: string,
  type: string,
  number: string,
): boolean {
  if (webhook.team !== team || !webhook.events.includes(type)) return false;
  return webhook.number === null || webhook.number === number;
}

export function isEventType(type: string): type is EventType {
  return (eventTypes as readonly string[]).includes(type);
}

export function group<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const found = groups.get(keyOf(item));
    if (found) found.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Finds neighbours of a list whose ranks are in the wrong order. */
export function inversions<T>(items: readonly T[], rankOf: (item: T) => number): (readonly [T, T])[] {
  const pairs = items.slice(1).map((item, index) => [items[index] ?? item, item] as const);
  return pairs.filter(([before, item]) => rankOf(before) > rankOf(item));
}

/** Finds two items of the same group that differ in another value, for each group that has them. */
export function conflicts<T>(
  items: readonly T[],
  groupOf: (item: T) => string,
  differenceOf: (item: T) => string,
): (readonly [T, T])[] {
  return [...group(items, groupOf).values()].flatMap((same) => {
    const [first, other] = new Map(same.map((item) => [differenceOf(item), item])).values();
    return first && other ? [[first, other] as const] : [];
  });
}

/** Joins a key with the team or number within which the key is unique. */
export function keyOf(owner: string, key: string): string {
  return `${owner} ${key}`;
}

function parseEnvelope(body: string): Envelope | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body, 'base64').toString('utf8'));
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Envelope {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
