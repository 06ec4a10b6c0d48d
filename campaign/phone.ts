import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Api } from './api.ts';
import { contentOf } from './contents.ts';
import type { History, ReportedOutcome } from './history.ts';

/** The beginning of the reason of a stop after a status that the service refused. */
export const refusedStatus = 'the server refused a status: ';

interface PhoneOptions {
  readonly history: History;
  /** The HTTP client with the phone's device token. */
  readonly api: Api;
  readonly number: string;
  /** Average time between two texts that the phone receives. */
  readonly inboundMs: number;
  /** How long it waits after an answer without a session, or without an answer. */
  readonly phonePauseMs: number;
  readonly over: AbortSignal;
}

/**
 * A phone of the device protocol (docs/device-protocol.md section 11) that records its actions. It repeats a poll without
 * an answer, report included. Sending fails for every ninth message. It reports some messages as delivered, sometimes
 * before the poll that reports them as sent.
 */
export class Phone {
  readonly #options: PhoneOptions;
  #session = 'new';
  #report: Readonly<Record<string, string>> = { last: 'none' };
  #handled = 0;
  #texts = 0;
  #statusesInFlight = 0;

  constructor(options: PhoneOptions) {
    this.#options = options;
  }

  /** True once the phone got its first answer. From then on it can repeat a lost poll in its session. */
  get isConnected(): boolean {
    return this.#session !== 'new';
  }

  /** Whether the phone has nothing left to report. */
  get isAtRest(): boolean {
    return this.#report.last === 'none' && this.#statusesInFlight === 0;
  }

  async poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const answer = await this.#call('poll', { ...this.#report, session: this.#session }, signal);
      if (signal.aborted) return;
      if (answer.action === undefined) {
        await this.#pause(signal);
        continue;
      }
      if (answer.action === 'stop') return this.#stop(`${answer.reason}`);
      // The hand-out is recorded first, because `#reported` may wait while the service is killed.
      if (answer.action === 'send') this.#handOut(answer);
      await this.#reported();
      this.#session = String(answer.session);
      if (answer.action === 'send') await this.#send(String(answer.id));
      else await this.#pause(signal, 1_000 * Number(answer.wait));
    }
  }

  /**
   * Passes on texts until the signal aborts, and repeats each text until it is stored. Every fourth text is passed on
   * twice at once.
   */
  async receive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#texts += 1;
      const id = `text-${this.#texts}`;
      const from = `+1415555${String(200 + (this.#texts % 5)).padStart(4, '0')}`;
      const text = contentOf(`${this.#options.number} received ${id}`, this.#texts);
      const pass = () => this.#pass(id, from, text);
      await Promise.all(this.#texts % 4 === 0 ? [pass(), pass()] : [pass()]);
      await pause(2 * this.#options.inboundMs * Math.random());
    }
  }

  #handOut({ id, to, text }: Answer['json']): void {
    const { history, number } = this.#options;
    const message = { message: String(id), to: String(to), text: String(text) };
    history.record({ kind: 'handed_out', number, ...message });
  }

  async #send(message: string): Promise<void> {
    const { history, number } = this.#options;
    this.#handled += 1;
    const outcome = this.#handled % 9 === 0 ? 'failed' : 'sent';
    this.#report = {
      last: message,
      ...(outcome === 'failed' ? { last_status: 'failed', last_error: 'No' } : {}),
    };
    if (this.#handled % 4 === 2 && outcome === 'sent') await this.#sendStatus(message, 'delivered');
    history.record({ kind: 'report_sent', number, message, outcome });
  }

  /** An answer to the poll proves that its report arrived. */
  async #reported(): Promise<void> {
    const { history, number } = this.#options;
    const { last: message = 'none', last_status } = this.#report;
    if (message === 'none') return;
    const outcome = last_status === 'failed' ? 'failed' : 'sent';
    history.record({ kind: 'report_accepted', number, message, outcome });
    if (this.#handled % 4 === 0 && outcome === 'sent') await this.#sendStatus(message, 'delivered');
    this.#report = { last: 'none' };
  }

  async #sendStatus(message: string, outcome: ReportedOutcome): Promise<void> {
    const { history, number } = this.#options;
    this.#statusesInFlight += 1;
    history.record({ kind: 'report_sent', number, message, outcome });
    const answer = await this.#insist('status', { id: message, status: outcome });
    this.#statusesInFlight -= 1;
    if (answer.ok === '1') history.record({ kind: 'report_accepted', number, message, outcome });
    else this.#stop(`${refusedStatus}${answer.reason}`);
  }

  async #pass(text_id: string, from: string, text: string): Promise<void> {
    const { history, number } = this.#options;
    history.record({ kind: 'inbound_sent', number, text_id, from, text });
    const answer = await this.#insist('inbound', { id: text_id, from, text });
    if (answer.ok === '1')
      history.record({ kind: 'inbound_accepted', number, text_id, message: String(answer.id) });
    else this.#stop(`inbound ${answer.reason}`);
  }

  async #insist(path: string, body: Readonly<Record<string, string>>): Promise<Answer['json']> {
    for (;;) {
      const answer = await this.#call(path, body);
      if (answer.ok === '1' || (answer.ok === '0' && answer.reason !== 'unavailable')) return answer;
      await this.#pause(this.#options.over);
    }
  }

  /** Waits, but not beyond the end of the signal. */
  async #pause(signal: AbortSignal, ms = this.#options.phonePauseMs): Promise<void> {
    await pause(ms, undefined, { signal }).catch(() => this.#options.over.throwIfAborted());
  }

  /** Makes a call. @returns {} if no answer arrived */
  async #call(path: string, body: Readonly<Record<string, string>>, signal?: AbortSignal) {
    const described = { ...body, device_name: 'Campaign iPhone', os: '26.0', v: '1' };
    const answer = await this.#options.api
      .call({
        method: 'POST',
        path: `/v1/device/${path}`,
        body: described,
        ...(signal ? { signal } : {}),
      })
      .catch(() => undefined);
    return answer?.json ?? {};
  }

  #stop(reason: string): void {
    this.#options.history.record({ kind: 'poll_stopped', number: this.#options.number, reason });
  }
}
