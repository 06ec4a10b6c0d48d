import { setTimeout as pause } from 'node:timers/promises';
import type { Flat } from '#simulated-phone/device-client.ts';
import { postJson } from '../load.ts';
import { bodyOf, RawConnection } from '../raw-connection.ts';

/** Counts of answers and losses, shared by all phones of a process. */
export interface PhoneCounts {
  unavailable: number;
  lostConnections: number;
  stops: number;
}

/** Seconds until a phone polls again after a lost connection or `unavailable`, as `SimulatedPhone` waits. */
const repeatSeconds = 15;

/** Speaks the device protocol as `SimulatedPhone` does, over one keep-alive connection and with less CPU. */
export class RawPhone {
  readonly #connection: RawConnection;
  readonly #poll: (body: unknown) => string;
  readonly #counts: PhoneCounts;
  readonly #onMessage: (id: string) => void;
  #session = 'new';
  #last = 'none';
  /** Pending while the phone is switched off. */
  #off: PromiseWithResolvers<void> | undefined;
  /** Whether the phone waits for the answer to a poll. */
  isPolling = false;

  constructor(origin: string, deviceToken: string, counts: PhoneCounts, onMessage: (id: string) => void) {
    this.#connection = new RawConnection(origin);
    this.#poll = postJson(origin, '/v1/device/poll', { 'x-device-token': deviceToken });
    this.#counts = counts;
    this.#onMessage = onMessage;
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#off?.promise;
      const answer = await this.#ask();
      if (answer) await this.#act(answer);
      else if (!this.#off) {
        this.#counts.lostConnections += 1;
        await pause(repeatSeconds * 1_000);
      }
    }
  }

  switchOff(): void {
    this.#off = Promise.withResolvers();
    this.#connection.close();
  }

  switchOn(): void {
    this.#off?.resolve();
    this.#off = undefined;
  }

  /** Polls once. @returns undefined if the connection was lost; the next poll then repeats this one */
  async #ask(): Promise<Flat | undefined> {
    const request = this.#poll({
      session: this.#session,
      last: this.#last,
      device_name: 'Simulated iPhone',
      os: '26.0',
      v: '1',
    });
    try {
      this.isPolling = true;
      return JSON.parse(bodyOf(await this.#connection.exchange(request)));
    } catch {
      return undefined;
    } finally {
      this.isPolling = false;
    }
  }

  async #act(answer: Flat): Promise<void> {
    const { action, id = '', session = this.#session, wait = '0' } = answer;
    if (action === undefined) {
      this.#counts.unavailable += 1;
      await pause(repeatSeconds * 1_000);
    } else if (action === 'stop') {
      this.#counts.stops += 1;
      this.#off ??= Promise.withResolvers();
    } else {
      this.#session = session;
      this.#last = action === 'send' ? id : 'none';
      if (action === 'send') this.#onMessage(id);
      if (wait !== '0') await pause(Number(wait) * 1_000);
    }
  }
}
