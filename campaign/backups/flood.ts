import { Pool } from 'undici';
import type { History } from '../history.ts';
import { ask } from '../http.ts';

export interface AnsweredSend {
  /** The time of the answer, in ms since the epoch. */
  readonly at: number;
  readonly latencyMs: number;
}

interface FloodOptions {
  readonly history: History;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly team: string;
}

export const floodNumbers = Array.from({ length: 8 }, (_, index) => `+1415555011${index}`);
export const floodContacts = Array.from({ length: 4 }, (_, index) => `+1415555016${index}`);

/**
 * Sends as fast as the service answers: each conversation sends its next message once the last one was answered. Each
 * conversation has its own connection.
 */
export class Flood {
  readonly answered: AnsweredSend[] = [];
  readonly #options: FloodOptions;
  readonly #pool: Pool;

  constructor(options: FloodOptions) {
    this.#options = options;
    this.#pool = new Pool(options.baseUrl);
  }

  /** Sends until the signal aborts, and waits for the answers in progress. @throws if a send is not answered */
  async run(signal: AbortSignal): Promise<void> {
    const conversations = floodNumbers.flatMap((from) =>
      floodContacts.map((to) => this.#converse(from, to, signal)),
    );
    try {
      await Promise.all(conversations);
    } finally {
      await this.#pool.destroy();
    }
  }

  async #converse(from: string, to: string, signal: AbortSignal): Promise<void> {
    const { history, team, apiKey } = this.#options;
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    for (let count = 1; !signal.aborted; count += 1) {
      const key = `flood-${from}-${to}-${count}`;
      const content = `Message ${count} from ${from} to ${to}`;
      history.record({ kind: 'send_requested', team, key, from, to, content });
      const startMs = performance.now();
      const { status, body } = await ask(this.#pool, {
        ...{ method: 'POST', path: '/v1/messages/send', headers: { ...headers, 'idempotency-key': key } },
        body: Buffer.from(JSON.stringify({ from, to, content })),
      });
      if (status === 0) throw new Error('A send was not answered.');
      const text = body.toString();
      if (status !== 202) history.record({ kind: 'send_refused', team, key, answer: `${status} ${text}` });
      else history.record({ kind: 'send_accepted', team, key, message: String(JSON.parse(text).id) });
      this.answered.push({ at: Date.now(), latencyMs: performance.now() - startMs });
    }
  }
}
