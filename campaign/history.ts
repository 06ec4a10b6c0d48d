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
export type Word = 'sent' | 'failed' | 'delivered';

/** An event as it was received. Only the checker interprets its fields. */
export type Envelope = Readonly<Record<string, unknown>>;

/** An action or observation of the campaign's clients. None comes from the service's database or log. */
export type Deed =
  /** A team is ready: its numbers exist and their phones are connected. */
  | { readonly did: 'opened'; readonly team: string; readonly numbers: readonly string[] }
  /** A webhook was created. `number` null means all numbers of the team. */
  | {
      readonly did: 'subscribed';
      readonly team: string;
      readonly webhook: string;
      readonly secret: string;
      readonly events: readonly string[];
      readonly number: string | null;
    }
  /** A sender is about to send, or to repeat a send without an answer. */
  | {
      readonly did: 'asked';
      readonly team: string;
      readonly key: string;
      readonly from: string;
      readonly to: string;
      readonly content: string;
      readonly media?: string;
    }
  | { readonly did: 'accepted'; readonly team: string; readonly key: string; readonly message: string }
  /** A sender got an answer that is neither a 202 nor a 5xx. */
  | { readonly did: 'refused'; readonly team: string; readonly key: string; readonly answer: string }
  | {
      readonly did: 'handed';
      readonly number: string;
      readonly message: string;
      readonly to: string;
      readonly text: string;
    }
  | { readonly did: 'said'; readonly number: string; readonly message: string; readonly word: Word }
  | { readonly did: 'heard'; readonly number: string; readonly message: string; readonly word: Word }
  /** A phone is about to pass on a received text; `text_id` is the phone's id of it. */
  | {
      readonly did: 'texted';
      readonly number: string;
      readonly text_id: string;
      readonly from: string;
      readonly text: string;
    }
  | { readonly did: 'taken'; readonly number: string; readonly text_id: string; readonly message: string }
  /** A phone got a stop. The campaign never causes one. */
  | { readonly did: 'stopped'; readonly number: string; readonly reason: string }
  /** A webhook receiver read a whole request; `body` is is in base64. */
  | {
      readonly did: 'received';
      readonly request: number;
      readonly webhook: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** A receiver has sent its answer. Status 0: it closed the connection instead. */
  | { readonly did: 'answered'; readonly request: number; readonly webhook: string; readonly status: number }
  /** A page of GET /v1/events. The follower reads during the run; the walker reads all events once, at the end. */
  | {
      readonly did: 'read';
      readonly team: string;
      readonly reader: 'follower' | 'walker';
      readonly events: readonly Envelope[];
    }
  /** A message in the list of messages at the end of the run. */
  | {
      readonly did: 'listed';
      readonly team: string;
      readonly message: string;
      readonly direction: string;
      readonly status: string;
      readonly from: string;
      readonly to: string;
      readonly content: string;
    }
  /** A number's `messages_today`, read at the end of the run. */
  | { readonly did: 'counted'; readonly number: string; readonly messages_today: number }
  /** A process died that the campaign had killed or given a failpoint. */
  | { readonly did: 'killed'; readonly point: string };

export type Did = Deed['did'];
export type DeedOf<D extends Did> = Extract<Deed, { readonly did: D }>;

/** A deed with its time in ms since the epoch. All times are of the campaign's one clock. */
export type Row<D extends Did = Did> = DeedOf<D> & { readonly at: number };

/** An append-only record: in memory and, if a path is given, as JSON lines in that file. */
export class History {
  readonly rows: Row[] = [];
  readonly #file: number | undefined;

  constructor(path?: string) {
    this.#file = path === undefined ? undefined : openSync(path, 'a', 0o600);
  }

  record(deed: Deed): void {
    const row = { at: Date.now(), ...deed };
    this.rows.push(row);
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(row)}\n`);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Rows of one kind, in the order in which they were recorded. */
export function rowsOf<D extends Did>(rows: readonly Row[], did: D): Row<D>[] {
  return rows.filter((row): row is Row<D> => row.did === did);
}
