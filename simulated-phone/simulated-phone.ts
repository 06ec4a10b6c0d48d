import { setTimeout as pause } from 'node:timers/promises';
import { connectionProblem } from './connection-problem.ts';
import { DeviceClient, type FetchedMedia, type Flat } from './device-client.ts';

/** The course of a message on the phone: it is sent, with or without a report of its delivery, or it fails. */
export type PhoneOutcome =
  | 'sent'
  | 'delivered'
  /** Sent and delivered, but only after some seconds. */
  | 'slow'
  | 'device_error'
  /** Sent; then the phone reports that it did not arrive. */
  | 'not_delivered'
  /** Never reported. */
  | 'device_timeout';

/** How long a slow send takes. */
const slowSeconds = '5';

/** A poll this long after a hand-out, without a report of it, shows that none will follow (specification section 11.4). */
const unconfirmedSeconds = '11';

/** An action of the phone, printed as one line. */
export type PhoneLine =
  | {
      readonly did: 'sent';
      readonly id: string;
      readonly to: string;
      readonly text: string;
      readonly media?: FetchedMedia;
    }
  /** The message's file did not arrive. The shortcut ends, and its next run opens a new session. */
  | { readonly did: 'broke_off'; readonly id: string; readonly reason: string }
  | { readonly did: 'failed'; readonly id: string; readonly to: string; readonly error: string }
  | { readonly did: 'reported'; readonly id: string; readonly status: 'sent' | 'failed' | 'delivered' }
  | { readonly did: 'received'; readonly id: string; readonly from: string; readonly text: string }
  | { readonly did: 'waited'; readonly reason: string; readonly seconds: number }
  | { readonly did: 'stopped'; readonly reason: string };

export interface PhoneOptions {
  readonly server: string;
  readonly deviceToken: string;
  readonly deviceName?: string;
  /**
   * Share of messages that the phone fails to send, 0 to 1. The failures are spread evenly, so that each run fails the
   * same messages.
   */
  readonly failRate?: number;
  /** The outcome of a message by its recipient; in place of `failRate` and `reportsDelivery`. */
  readonly outcomeOf?: (to: string) => PhoneOutcome;
  /** Whether the phone reports a delivery after each send. */
  readonly reportsDelivery?: boolean;
  /** The phone ends after it has handled and reported this many messages. */
  readonly count?: number;
  /** Replaces the wait that the protocol asks for, so that tests are fast. */
  readonly waitSeconds?: number;
  readonly onLine?: (line: PhoneLine) => void;
}

/**
 * A session id that the server does not know. A phone uses it for its last report: the poll gets a stop instead of a
 * message.
 */
export const leavingSession = 'leaving';

export interface SentMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly media?: FetchedMedia;
}

/**
 * A client of the device protocol that acts as an iPhone with the shortcut. It polls, sends, and reports with the next
 * poll. It repeats a poll whose answer it could not read.
 */
export class SimulatedPhone {
  /** Messages that the phone sent, in order. Tests compare them with what the server claims. */
  readonly sent: SentMessage[] = [];
  /** Why the phone ended: the reason of the server's stop, or `count`. */
  end: string | undefined;
  readonly #options: PhoneOptions;
  readonly #client: DeviceClient;
  readonly #leaving = new AbortController();
  #session = 'new';
  #report: Flat = { last: 'none' };
  #handled = 0;
  #failDue = 0;
  /** The message whose failed delivery is reported after the report of its send. */
  #undelivered: string | undefined;

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.#client = new DeviceClient(options.server, options.deviceToken);
  }

  /** Runs until the phone gets a stop, has handled `count` messages or is switched off. */
  async run(): Promise<void> {
    while (this.end === undefined && !this.#leaving.signal.aborted) {
      const answer = await this.#poll();
      if (answer && this.end === undefined) await this.#act(answer);
    }
  }

  get #isThrough(): boolean {
    const { count } = this.#options;
    return count !== undefined && this.#handled >= count;
  }

  /** Switches the phone off, even during a long poll. */
  switchOff(): void {
    this.#leaving.abort();
  }

  /** Receives a text: the automation repeats its call until the server has stored it. */
  async receive(message: Flat): Promise<string> {
    for (;;) {
      const answer = await this.#client.inbound(message).catch((): Flat => ({}));
      if (answer.ok === '1' && answer.id !== undefined) {
        this.#tell({ did: 'received', id: answer.id, from: message.from ?? '', text: message.text ?? '' });
        return answer.id;
      }
      if (answer.reason !== undefined && answer.reason !== 'unavailable') {
        throw new Error(`the server refused the inbound message: ${answer.reason}`);
      }
      await this.#wait('unavailable', '1');
    }
  }

  /** Polls once. @returns undefined if the answer could not be read; the next poll then repeats this one */
  async #poll(): Promise<Flat | undefined> {
    const body = {
      session: this.#isThrough ? leavingSession : this.#session,
      ...this.#report,
      device_name: this.#options.deviceName ?? 'Simulated iPhone',
      os: '26.0',
      v: '1',
    };
    let problem = 'no answer';
    const answer = await this.#client.poll(body, this.#leaving.signal).catch((error: unknown): Flat => {
      problem = `no answer: ${connectionProblem(error)}`;
      return {};
    });
    if (this.#leaving.signal.aborted) return undefined;
    if (answer.action === undefined) {
      await this.#wait(answer.reason ?? problem, '15');
      return undefined;
    }
    await this.#reported();
    if (answer.session !== undefined) this.#session = answer.session;
    return answer;
  }

  /** Every answer to a poll proves that the server has stored the poll's report. */
  async #reported(): Promise<void> {
    const { last, last_status } = this.#report;
    this.#report = { last: 'none' };
    if (last === undefined || last === 'none') return;
    this.#tell({ did: 'reported', id: last, status: last_status === 'failed' ? 'failed' : 'sent' });
    if (last === this.#undelivered) await this.#reportStatus(last, 'failed');
    if (this.#isThrough) this.end = 'count';
  }

  async #act(answer: Flat): Promise<void> {
    if (answer.action === 'send') await this.#send(answer);
    if (answer.action === 'stop') {
      this.end = answer.reason ?? 'stop';
      this.#tell({ did: 'stopped', reason: this.end });
    }
    if (answer.wait !== undefined && answer.wait !== '0') await this.#wait('asked', answer.wait);
  }

  async #send({ id = '', to = '', text = '', media: path = 'none' }: Flat): Promise<void> {
    this.#handled += 1;
    const file = path === 'none' ? {} : await this.#fetch(id, path);
    if (!file) return;
    const outcome = this.#outcomeOf(to);
    if (outcome === 'device_timeout') return this.#wait('unconfirmed', unconfirmedSeconds);
    if (outcome === 'device_error') {
      const error = 'Message could not be sent';
      this.#tell({ did: 'failed', id, to, error });
      this.#report = { last: id, last_status: 'failed', last_error: error };
      return;
    }
    if (outcome === 'slow') await this.#wait('slow', slowSeconds);
    this.sent.push({ id, to, text, ...file });
    this.#tell({ did: 'sent', id, to, text, ...file });
    this.#report = { last: id };
    if (outcome === 'not_delivered') this.#undelivered = id;
    if (outcome === 'delivered' || outcome === 'slow') await this.#reportStatus(id, 'delivered');
  }

  #outcomeOf(to: string): PhoneOutcome {
    const { outcomeOf, failRate = 0, reportsDelivery } = this.#options;
    if (outcomeOf) return outcomeOf(to);
    this.#failDue += failRate;
    if (this.#failDue < 1) return reportsDelivery ? 'delivered' : 'sent';
    this.#failDue -= 1;
    return 'device_error';
  }

  /**
   * Fetches the file of a message. @returns undefined if the file did not arrive; then the shortcut ends, and an
   * automation starts it again
   */
  async #fetch(id: string, path: string): Promise<{ readonly media: FetchedMedia } | undefined> {
    try {
      return { media: await this.#client.media(path) };
    } catch (error) {
      this.#tell({ did: 'broke_off', id, reason: connectionProblem(error) });
      this.#session = 'new';
      return undefined;
    }
  }

  /**
   * Reports a delivery before the next poll reports "sent", because a delivery means that the message was sent, too. A
   * failed delivery is reported after that poll.
   */
  async #reportStatus(id: string, status: 'delivered' | 'failed'): Promise<void> {
    const answer = await this.#client.status({ id, status }).catch((): Flat => ({}));
    if (answer.ok === '1') this.#tell({ did: 'reported', id, status });
  }

  async #wait(reason: string, seconds: string): Promise<void> {
    const forSeconds = this.#options.waitSeconds ?? Number(seconds);
    this.#tell({ did: 'waited', reason, seconds: forSeconds });
    await pause(forSeconds * 1_000, undefined, { signal: this.#leaving.signal }).catch(() => undefined);
  }

  #tell(line: PhoneLine): void {
    this.#options.onLine?.(line);
  }
}
