import { appendFileSync, closeSync, openSync } from 'node:fs';

/** Changes of messages that events report (docs/specification.md section 6.1). */
export const eventTypes = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.failed',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Reports of a phone on a message that it received. */
export type Word = 'sent' | 'failed' | 'delivered';

/** An event as it was received: what it says is for the checker to judge. */
export type Envelope = Readonly<Record<string, unknown>>;

/** An action or observation outside of Ownline. Nothing in it comes from Ownline's database or log. */
export type Deed =
  /** A team and its numbers stand, with their phones connected. */
  | { readonly did: 'opened'; readonly team: string; readonly numbers: readonly string[] }
  /** A webhook stands; null is every number of the team. */
  | {
      readonly did: 'subscribed';
      readonly team: string;
      readonly webhook: string;
      readonly secret: string;
      readonly events: readonly string[];
      readonly number: string | null;
    }
  /** A sender is about to send, or to repeat what was not answered. */
  | {
      readonly did: 'asked';
      readonly team: string;
      readonly key: string;
      readonly from: string;
      readonly to: string;
      readonly content: string;
      /** Its media_url, where it has one. */
      readonly media?: string;
    }
  /** A sender was answered 202. */
  | { readonly did: 'accepted'; readonly team: string; readonly key: string; readonly message: string }
  /** A sender was answered something that is neither a 202 nor a fault of the server. */
  | { readonly did: 'refused'; readonly team: string; readonly key: string; readonly answer: string }
  /** A phone read a message. */
  | {
      readonly did: 'handed';
      readonly number: string;
      readonly message: string;
      readonly to: string;
      readonly text: string;
    }
  /** A phone is about to report. */
  | { readonly did: 'said'; readonly number: string; readonly message: string; readonly word: Word }
  /** A phone's report was answered. */
  | { readonly did: 'heard'; readonly number: string; readonly message: string; readonly word: Word }
  /** A phone is about to pass a text on that it received; `text_id` is its own id of it. */
  | {
      readonly did: 'texted';
      readonly number: string;
      readonly text_id: string;
      readonly from: string;
      readonly text: string;
    }
  /** A phone's text was answered with the id of its message. */
  | { readonly did: 'taken'; readonly number: string; readonly text_id: string; readonly message: string }
  /** A phone got a stop, for which the campaign gives no reason. */
  | { readonly did: 'stopped'; readonly number: string; readonly reason: string }
  /** A receiver read a whole request; `body` is its bytes in base64. */
  | {
      readonly did: 'received';
      readonly request: number;
      readonly webhook: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** A receiver has answered in full; status 0 is a connection that it cut instead. */
  | { readonly did: 'answered'; readonly request: number; readonly webhook: string; readonly status: number }
  /** A page of GET /v1/events: the follower reads while everything runs, the walker once, from the start, at the end. */
  | {
      readonly did: 'read';
      readonly team: string;
      readonly reader: 'follower' | 'walker';
      readonly events: readonly Envelope[];
    }
  /** A message of the list of messages, looked at when all was quiet. */
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
  /** The messages of today that a number shows, read at the end, without traffic. */
  | { readonly did: 'counted'; readonly number: string; readonly messages_today: number }
  /** The campaign saw a process die that it had killed or armed. */
  | { readonly did: 'killed'; readonly point: string };

export type Did = Deed['did'];
export type DeedOf<D extends Did> = Extract<Deed, { readonly did: D }>;

/** A deed and its moment, in milliseconds since the epoch, of the one clock of the campaign. */
export type Row<D extends Did = Did> = DeedOf<D> & { readonly at: number };

/** Append-only: JSON lines on disk, where a file is named, and the same in memory. */
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
