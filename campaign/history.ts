import { appendFileSync, closeSync, openSync } from 'node:fs';

/** Events that report changes of messages (docs/specification.md section 6.1). */
export const eventTypes = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.failed',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Outcomes that a phone reports for a message. */
export type ReportedOutcome = 'sent' | 'failed' | 'delivered';

/** An event as it was received. Only the checker interprets its fields. */
export type Envelope = Readonly<Record<string, unknown>>;

/** Actions and observations of the campaign's clients by their kind. None comes from the service's database or log. */
interface Entries {
  /** A team is ready: its numbers exist and their phones are connected. */
  team_ready: { team: string; numbers: readonly string[] };
  /** A webhook was created. `number` null means all numbers of the team. */
  webhook_created: Words<'team' | 'webhook' | 'secret'> & {
    events: readonly string[];
    number: string | null;
  };
  /** A sender is about to send, or to repeat a send without an answer. */
  send_requested: Words<'team' | 'key' | 'from' | 'to' | 'content'> & { media?: string };
  /** Any answer to a send. Status 599: there was none. */
  send_answered: Words<'key' | 'text'> & { status: number; retryAfter: string | null; ms: number };
  send_accepted: Words<'team' | 'key' | 'message'>;
  /** A sender got an answer that is neither a 202 nor a 5xx. */
  send_refused: Words<'team' | 'key' | 'answer'>;
  handed_out: Words<'number' | 'message' | 'to' | 'text'>;
  report_sent: Words<'number' | 'message'> & { outcome: ReportedOutcome };
  report_accepted: Words<'number' | 'message'> & { outcome: ReportedOutcome };
  /** A phone is about to pass on a received text; `text_id` is the phone's id of it. */
  inbound_sent: Words<'number' | 'text_id' | 'from' | 'text'>;
  inbound_accepted: Words<'number' | 'text_id' | 'message'>;
  /** A phone got a stop. The campaign never causes one. */
  poll_stopped: Words<'number' | 'reason'>;
  /** A webhook receiver read a whole request; `body` is in base64. */
  delivery_received: Words<'webhook' | 'body'> & {
    request: number;
    headers: Readonly<Record<string, string>>;
  };
  /** A receiver has sent its answer. Status 0: it closed the connection instead. */
  delivery_answered: { request: number; webhook: string; status: number };
  /**
   * A page of GET /v1/events. The follower reads during the run; the walker reads all events once, at the end. A page that the
   * follower had read of a lost state is `lost`: its events may have got other positions since.
   */
  feed_read: {
    team: string;
    reader: 'follower' | 'walker' | 'lost';
    events: readonly Envelope[];
    gap: boolean;
  };
  /** A message was held while later ones of its conversation went out. */
  message_held: Words<'message'>;
  /** An event of a dashboard's live stream. */
  live_event: { team: string };
  /** An answer to GET /readyz, and the time that it took. */
  readiness_answered: { ms: number };
  /** A message in the list of messages at the end of the run. */
  message_listed: Words<'team' | 'message' | 'direction' | 'status' | 'from' | 'to' | 'content'>;
  /** A number's `messages_today`, read at the end of the run. */
  number_counted: { number: string; messages_today: number };
  /** A process died because the campaign killed it, or at the failpoint that the campaign set. */
  process_killed: { point: string };
}

type Words<Name extends string> = Record<Name, string>;

export type EntryKind = keyof Entries;
type Entry = { [Kind in EntryKind]: Readonly<Entries[Kind] & { kind: Kind }> }[EntryKind];

/** An entry with its time in ms since the epoch. All times are of the campaign's one clock. */
export type Row<D extends EntryKind = EntryKind> = Extract<Entry, { readonly kind: D }> & {
  readonly at: number;
};

/** An append-only record: in memory and, if a path is given, as JSON lines in that file. */
export class History {
  readonly rows: Row[] = [];
  readonly #file: number | undefined;

  constructor(path?: string) {
    this.#file = path === undefined ? undefined : openSync(path, 'a', 0o600);
  }

  record(entry: Entry): void {
    const row = { at: Date.now(), ...entry };
    this.rows.push(row);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(row)}\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Rows of one kind, in the order in which they were recorded. */
export function rowsOf<D extends EntryKind>(rows: readonly Row[], kind: D): Row<D>[] {
  return rows.filter((row): row is Row<D> => row.kind === kind);
}
