import { setTimeout as pause } from 'node:timers/promises';
import { connectionProblem } from './connection-problem.ts';
import { DeviceClient, type FetchedMedia, type Flat } from './device-client.ts';

/** Where a phone can die while it handles a message. */
export type DeathStep =
  /** The answer is on its way and never arrives: the phone cuts the connection as soon as the poll has left. */
  | 'while_polling'
  /** It has the message and dies before it sends. */
  | 'before_send'
  /** It has sent the message and dies before it reports. */
  | 'after_send';

/** One thing that the phone did. */
export type PhoneLine =
  | {
      readonly did: 'sent';
      readonly id: string;
      readonly to: string;
      readonly text: string;
      readonly media?: FetchedMedia;
    }
  /** Its file did not arrive: the shortcut ends there, and the next start of it begins anew. */
  | { readonly did: 'broke_off'; readonly id: string; readonly reason: string }
  | { readonly did: 'failed'; readonly id: string; readonly to: string; readonly error: string }
  | { readonly did: 'reported'; readonly id: string; readonly status: 'sent' | 'failed' | 'delivered' }
  | { readonly did: 'received'; readonly id: string; readonly from: string; readonly text: string }
  | { readonly did: 'waited'; readonly reason: string; readonly seconds: number }
  | { readonly did: 'stopped'; readonly reason: string }
  | { readonly did: 'died'; readonly step: DeathStep };

export interface PhoneOptions {
  readonly server: string;
  readonly deviceToken: string;
  readonly deviceName?: string;
  /** Share of messages that the phone fails to send, 0 to 1; spread evenly, so that runs repeat. */
  readonly failRate?: number;
  /** Reports delivery after each send, as a device that can tell would. */
  readonly reportsDelivery?: boolean;
  /** Ends once this many messages were handled and the last one reported; takes no other. */
  readonly count?: number;
  /** Dies at a step of its n-th message (1 is the first). */
  readonly dieAt?: { readonly step: DeathStep; readonly message: number };
  /** Instead of the wait that the protocol asks for; tests shorten it. */
  readonly waitSeconds?: number;
  readonly onLine?: (line: PhoneLine) => void;
}

/**
 * An unknown session: a poll with it reports, and gets a stop instead of a message. A phone uses it for its last report.
 */
export const leavingSession = 'leaving';

export interface SentMessage {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly media?: FetchedMedia;
}

/**
 * An iPhone with the shortcut, as far as the server can tell. It polls, sends and reports with the next poll, and
 * repeats a poll whose answer it could not read. It speaks HTTP and knows nothing else of Ownline.
 */
export class SimulatedPhone {
  /** Messages that left the phone, in order: the truth about those that reached people. */
  readonly sent: SentMessage[] = [];
  /** The reason of its stop, or the step at which it died. */
  end: string | undefined;
  readonly #options: PhoneOptions;
  readonly #client: DeviceClient;
  readonly #leaving = new AbortController();
  #session = 'new';
  #report: Flat = { last: 'none' };
  #handled = 0;
  #failDue = 0;

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.#client = new DeviceClient(options.server, options.deviceToken);
  }

  /** Runs until it gets a stop, dies, has handled `count` messages or is switched off. */
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

  /** Switched off between two polls, or in the middle of a held one. */
  switchOff(): void {
    this.#leaving.abort();
  }

  /** A text arrives at the phone, and its automation passes it on, as often as it takes. */
  async receive(message: Flat): Promise<string> {
    for (;;) {
      const answer = await this.#client.inbound(message).catch((): Flat => ({}));
      if (answer.ok === '1' && answer.id !== undefined) {
        this.#tell({ did: 'received', id: answer.id, from: message.from ?? '', text: message.text ?? '' });
        return answer.id;
      }
      if (answer.reason !== undefined && answer.reason !== 'unavailable') {
        throw new Error(`the server did not take the inbound message: ${answer.reason}`);
      }
      await this.#wait('unavailable', '1');
    }
  }

  /** One poll. undefined where its answer could not be read; the same poll, report included, is then repeated. */
  async #poll(): Promise<Flat | undefined> {
    const dies = this.#diesNow('while_polling');
    const signal = dies
      ? AbortSignal.any([this.#leaving.signal, AbortSignal.timeout(200)])
      : this.#leaving.signal;
    const body = {
      session: this.#isThrough ? leavingSession : this.#session,
      ...this.#report,
      device_name: this.#options.deviceName ?? 'Simulated iPhone',
      os: '26.0',
      v: '1',
    };
    let problem = 'no answer';
    const answer = await this.#client.poll(body, signal).catch((error: unknown): Flat => {
      problem = `no answer: ${connectionProblem(error)}`;
      return {};
    });
    if (dies) return this.#die('while_polling');
    if (this.#leaving.signal.aborted) return undefined;
    if (answer.action === undefined) {
      await this.#wait(answer.reason ?? problem, answer.wait ?? '15');
      return undefined;
    }
    this.#reported();
    if (answer.session !== undefined) this.#session = answer.session;
    return answer;
  }

  /** The answer came, so the server has what the poll reported. */
  #reported(): void {
    const { last, last_status } = this.#report;
    this.#report = { last: 'none' };
    if (last === undefined || last === 'none') return;
    this.#tell({ did: 'reported', id: last, status: last_status === 'failed' ? 'failed' : 'sent' });
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
    if (this.#diesAt('before_send')) return void this.#die('before_send');
    this.#failDue += this.#options.failRate ?? 0;
    if (this.#failDue >= 1) {
      this.#failDue -= 1;
      const error = 'Message could not be sent';
      this.#tell({ did: 'failed', id, to, error });
      this.#report = { last: id, last_status: 'failed', last_error: error };
      return;
    }
    this.sent.push({ id, to, text, ...file });
    this.#tell({ did: 'sent', id, to, text, ...file });
    if (this.#diesAt('after_send')) return void this.#die('after_send');
    this.#report = { last: id };
    if (this.#options.reportsDelivery) await this.#reportDelivery(id);
  }

  /** @returns undefined where the file did not arrive: the shortcut ends, and an automation starts it again */
  async #fetch(id: string, path: string): Promise<{ readonly media: FetchedMedia } | undefined> {
    try {
      return { media: await this.#client.media(path) };
    } catch (error) {
      this.#tell({ did: 'broke_off', id, reason: connectionProblem(error) });
      this.#session = 'new';
      return undefined;
    }
  }

  /** The poll that reports "sent" follows; a report of delivery alone says both. */
  async #reportDelivery(id: string): Promise<void> {
    const answer = await this.#client.status({ id, status: 'delivered' }).catch((): Flat => ({}));
    if (answer.ok === '1') this.#tell({ did: 'reported', id, status: 'delivered' });
  }

  #diesNow(step: DeathStep): boolean {
    const { dieAt } = this.#options;
    return dieAt?.step === step && this.#handled + 1 === dieAt.message;
  }

  #diesAt(step: DeathStep): boolean {
    const { dieAt } = this.#options;
    return dieAt?.step === step && this.#handled === dieAt.message;
  }

  #die(step: DeathStep): undefined {
    this.end = step;
    this.#tell({ did: 'died', step });
    return undefined;
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
