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

/** An action or observation of the campaign's clients. None comes from the service's database or log. */
export type Entry =
  /** A team is ready: its numbers exist and their phones are connected. */
  | { readonly kind: 'team_ready'; readonly team: string; readonly numbers: readonly string[] }
  /** A webhook was created. `number` null means all numbers of the team. */
  | {
      readonly kind: 'webhook_created';
      readonly team: string;
      readonly webhook: string;
      readonly secret: string;
      readonly events: readonly string[];
      readonly number: string | null;
    }
  /** A sender is about to send, or to repeat a send without an answer. */
  | {
      readonly kind: 'send_requested';
      readonly team: string;
      readonly key: string;
      readonly from: string;
      readonly to: string;
      readonly content: string;
      readonly media?: string;
    }
  | { readonly kind: 'send_accepted'; readonly team: string; readonly key: string; readonly message: string }
  /** A sender got an answer that is neither a 202 nor a 5xx. */
  | { readonly kind: 'send_refused'; readonly team: string; readonly key: string; readonly answer: string }
  | {
      readonly kind: 'handed_out';
      readonly number: string;
      readonly message: string;
      readonly to: string;
      readonly text: string;
    }
  | {
      readonly kind: 'report_sent';
      readonly number: string;
      readonly message: string;
      readonly outcome: ReportedOutcome;
    }
  | {
      readonly kind: 'report_accepted';
      readonly number: string;
      readonly message: string;
      readonly outcome: ReportedOutcome;
    }
  /** A phone is about to pass on a received text; `text_id` is the phone's id of it. */
  | {
      readonly kind: 'inbound_sent';
      readonly number: string;
      readonly text_id: string;
      readonly from: string;
      readonly text: string;
    }
  | {
      readonly kind: 'inbound_accepted';
      readonly number: string;
      readonly text_id: string;
      readonly message: string;
    }
  /** A phone got a stop. The campaign never causes one. */
  | { readonly kind: 'poll_stopped'; readonly number: string; readonly reason: string }
  /** A webhook receiver read a whole request; `body` is in base64. */
  | {
      readonly kind: 'delivery_received';
      readonly request: number;
      readonly webhook: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** A receiver has sent its answer. Status 0: it closed the connection instead. */
  | {
      readonly kind: 'delivery_answered';
      readonly request: number;
      readonly webhook: string;
      readonly status: number;
    }
  /** A page of GET /v1/events. The follower reads during the run; the walker reads all events once, at the end. */
  | {
      readonly kind: 'feed_read';
      readonly team: string;
      readonly reader: 'follower' | 'walker';
      readonly events: readonly Envelope[];
    }
  /** A message in the list of messages at the end of the run. */
  | {
      readonly kind: 'message_listed';
      readonly team: string;
      readonly message: string;
      readonly direction: string;
      readonly status: string;
      readonly from: string;
      readonly to: string;
      readonly content: string;
    }
  /** A number's `messages_today`, read at the end of the run. */
  | { readonly kind: 'number_counted'; readonly number: string; readonly messages_today: number }
  /** A process died because the campaign killed it, or at the failpoint that the campaign set. */
  | { readonly kind: 'process_killed'; readonly point: string };

export type EntryKind = Entry['kind'];
export type EntryOf<D extends EntryKind> = Extract<Entry, { readonly kind: D }>;

/** An entry with its time in ms since the epoch. All times are of the campaign's one clock. */
export type Row<D extends EntryKind = EntryKind> = EntryOf<D> & { readonly at: number };

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
