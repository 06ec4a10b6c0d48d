import { createHash } from 'node:crypto';
import { lastingRefusals } from '#shortcut/inbound-steps.ts';
import { realClock, sleep } from '#shortcut/interpreter/run-clock.ts';
import {
  type OutgoingMessage,
  type RunEnd,
  type RunOptions,
  runShortcut,
} from '#shortcut/interpreter/run-shortcut.ts';
import { buildWorkflow, inbound, outbox, type Shortcut } from '#shortcut/shortcuts.ts';
import { connectionProblem } from './connection-problem.ts';
import { DeviceClient, type FetchedMedia, type Flat, readFlat } from './device-client.ts';
import { leavingSession, type PhoneLine, type PhoneOptions } from './simulated-phone.ts';

export type ShortcutPhoneOptions = Pick<
  PhoneOptions,
  'server' | 'deviceToken' | 'count' | 'reportsDelivery' | 'onLine'
>;

/** Seconds after a failed run until an automation starts the shortcut again. */
const starterSeconds = 15;

/**
 * A simulated iPhone that runs the shortcuts of `ownline shortcut export`. As on an iPhone, automations start *Ownline
 * Outbox* again after a failed run. A shortcut prints nothing, so the output lines are derived from its HTTP calls and
 * sent messages.
 */
export class ShortcutPhone {
  readonly #options: ShortcutPhoneOptions;
  readonly #client: DeviceClient;
  readonly #leaving = new AbortController();
  #messageId = '';
  /** The file of the current message after it was sent; the message's text follows. */
  #file: FetchedMedia | undefined;
  #handled = 0;
  /** True while the run has a message whose outcome it has not reported. */
  #isSending = false;
  /** True if an earlier session of this phone may still live on the server, which then refuses a new run. */
  #hadSession = false;
  #stopReason = '';

  constructor(options: ShortcutPhoneOptions) {
    this.#options = options;
    this.#client = new DeviceClient(options.server, options.deviceToken);
  }

  /** Runs until the phone gets a stop, has handled `count` messages or is switched off. */
  async run(): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      const end = await this.#start(outbox, (...request) => this.#fetchForOutbox(...request));
      if (end.kind === 'failed') {
        const reason = problemOf(end.error);
        if (this.#isSending) this.#tell({ did: 'broke_off', id: this.#messageId, reason });
        await this.#waitForStarter(reason);
      } else if (end.kind === 'stopped') {
        const isRestart = this.#stopReason === 'already_running' && this.#hadSession;
        if (!isRestart) return this.#tell({ did: 'stopped', reason: this.#stopReason });
        await this.#waitForStarter(this.#stopReason);
      }
    }
  }

  /** Switches the phone off, even during a long poll. */
  switchOff(): void {
    this.#leaving.abort();
  }

  /**
   * Receives a text: an automation runs Inbound until the server has stored it.
   * @returns the server's id of the message; undefined if the phone was switched off
   * @throws Error if the server refuses the message for good
   */
  async receive({ from = '', text = '', recipients = '' }: Flat): Promise<string | undefined> {
    const input = {
      sender: from,
      content: text,
      recipients: recipients === '' ? [] : recipients.split(/[\n,;] */),
    };
    while (!this.#leaving.signal.aborted) {
      let answer: Flat = {};
      const observe: typeof fetch = async (...request) => {
        const response = await fetch(...request);
        answer = await readFlat(response.clone());
        return response;
      };
      const end = await this.#start(inbound, observe, { input: [input] });
      if (answer.ok === '1' && answer.id !== undefined) {
        this.#tell({ did: 'received', id: answer.id, from, text });
        return answer.id;
      }
      if (lastingRefusals.includes(answer.reason ?? ''))
        throw new Error(`the server refused the inbound message: ${answer.reason}`);
      if (end.kind === 'failed') await this.#waitForStarter(problemOf(end.error));
    }
    return undefined;
  }

  #start(shortcut: Shortcut, network: typeof fetch, options: RunOptions = {}): Promise<RunEnd> {
    const { server, deviceToken } = this.#options;
    return runShortcut(
      buildWorkflow(shortcut, { server, deviceToken }),
      {
        clock: realClock,
        deviceName: 'Simulated iPhone',
        systemVersion: '26.0',
        sendMessage: (message) => this.#send(message),
        fetch: network,
      },
      { signal: this.#leaving.signal, ...options },
    );
  }

  async #send(message: OutgoingMessage): Promise<void> {
    if (message.kind === 'file') {
      const { name, mediaType, bytes } = message.file;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      this.#file = { name, type: mediaType, bytes: bytes.length, sha256 };
      return;
    }
    const id = this.#messageId;
    const media = this.#file === undefined ? {} : { media: this.#file };
    this.#tell({ did: 'sent', id, to: message.to, text: message.text, ...media });
    if (this.#options.reportsDelivery) await this.#reportDelivery(id);
  }

  /** Reports a delivery as other devices can. A shortcut does not learn of deliveries. */
  async #reportDelivery(id: string): Promise<void> {
    const answer = await this.#client.status({ id, status: 'delivered' }).catch((): Flat => ({}));
    if (answer.ok === '1') this.#tell({ did: 'reported', id, status: 'delivered' });
  }

  get #isThrough(): boolean {
    const { count } = this.#options;
    return count !== undefined && this.#handled >= count;
  }

  async #fetchForOutbox(...[address, init]: Parameters<typeof fetch>): Promise<Response> {
    if (typeof init?.body !== 'string') return fetch(address, init);
    const poll: Flat = JSON.parse(init.body);
    // After its last message the phone only reports. A poll with an unknown session reports, but gets no further
    // message.
    const body = this.#isThrough ? { ...poll, session: leavingSession } : poll;
    const response = await fetch(address, { ...init, body: JSON.stringify(body) });
    this.#observe(poll, await readFlat(response.clone()));
    return response;
  }

  #observe(poll: Flat, answer: Flat): void {
    if (answer.action === undefined) {
      this.#tell({ did: 'waited', reason: answer.reason ?? 'no answer', seconds: 15 });
      return;
    }
    this.#isSending = false;
    const { last = 'none', last_status: status } = poll;
    if (last !== 'none')
      this.#tell({ did: 'reported', id: last, status: status === 'failed' ? 'failed' : 'sent' });
    if (last !== 'none' && this.#isThrough) {
      this.#leaving.abort();
      return;
    }
    if (answer.action === 'stop') {
      this.#stopReason = answer.reason ?? 'stop';
      return;
    }
    this.#hadSession = true;
    if (answer.action === 'send') {
      this.#messageId = answer.id ?? '';
      this.#file = undefined;
      this.#isSending = true;
      this.#handled += 1;
    }
    if (answer.wait !== undefined && answer.wait !== '0')
      this.#tell({ did: 'waited', reason: 'asked', seconds: Number(answer.wait) });
  }

  async #waitForStarter(reason: string): Promise<void> {
    this.#tell({ did: 'waited', reason, seconds: starterSeconds });
    await sleep(realClock, starterSeconds * 1_000, this.#leaving.signal);
  }

  #tell(line: PhoneLine): void {
    this.#options.onLine?.(line);
  }
}

function problemOf(failure: Error): string {
  return failure.cause === undefined ? failure.message : `no answer: ${connectionProblem(failure.cause)}`;
}
