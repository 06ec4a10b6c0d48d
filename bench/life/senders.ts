import { setTimeout as pause } from 'node:timers/promises';
import { postJson } from '../load.ts';
import { bodyOf, RawConnection } from '../raw-connection.ts';
import { contact, text } from '../send/sends.ts';
import type { Ledger } from './ledger.ts';

/** API clients on keep-alive connections of this process. They send from all numbers in turn. */
export class Senders {
  readonly #connections: readonly RawConnection[];
  readonly #request: (n: number) => string;
  readonly #ledger: Ledger;
  #sent = 0;
  /** The milliseconds that each send took until its answer. */
  readonly timesMs: number[] = [];

  constructor(
    {
      origin,
      path = '/v1/messages/send',
      key,
      numbers,
    }: { origin: string; path?: string; key: string; numbers: readonly string[] },
    connections: number,
    ledger: Ledger,
  ) {
    const post = postJson(origin, path, { 'x-api-key': key });
    this.#request = (n) => post({ from: numbers[n % numbers.length], to: contact(n), content: text(n) });
    this.#connections = Array.from({ length: connections }, () => new RawConnection(origin));
    this.#ledger = ledger;
  }

  /** Closed loop: each connection sends its next message once it has the answer and `mayGo` lets it. */
  async flow(mayGo: () => boolean | Promise<boolean>): Promise<void> {
    await this.#all(async (connection) => {
      while (await mayGo()) await this.#send(connection);
    });
  }

  /** Sends so many messages as fast as the connections can. */
  async burst(messages: number): Promise<void> {
    let left = messages;
    await this.flow(() => {
      left -= 1;
      return left >= 0;
    });
  }

  /** Open loop: sends by a schedule of so many messages a second, as long as a connection is free. */
  async atRate(perSecond: number, seconds: number): Promise<void> {
    const started = performance.now();
    let begun = 0;
    await this.#all(async (connection) => {
      while (begun < perSecond * seconds) {
        const atMs = started + (begun * 1_000) / perSecond;
        begun += 1;
        await pause(Math.max(0, atMs - performance.now()));
        await this.#send(connection);
      }
    });
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async #all(client: (connection: RawConnection) => Promise<void>): Promise<void> {
    await Promise.all(this.#connections.map(client));
  }

  async #send(connection: RawConnection): Promise<void> {
    this.#sent += 1;
    const sentAtMs = performance.now();
    const answer = await connection.exchange(this.#request(this.#sent));
    this.timesMs.push(performance.now() - sentAtMs);
    if (!answer.startsWith('HTTP/1.1 202 ')) throw new Error(`a send was not accepted: ${answer}`);
    this.#ledger.accept(JSON.parse(bodyOf(answer)).id);
  }
}
