import { Agent, request } from 'node:http';
import type { History } from '../history.ts';

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
 * Sends as fast as the service answers: each conversation sends its next message once the last one was answered. It
 * uses node:http with one connection per conversation, because fetch would take CPU from the service.
 */
export class Flood {
  readonly answered: AnsweredSend[] = [];
  readonly #options: FloodOptions;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(options: FloodOptions) {
    this.#options = options;
  }

  /** Sends until the signal aborts, and waits for the answers in progress. @throws where a send is not answered */
  async run(signal: AbortSignal): Promise<void> {
    const conversations = floodNumbers.flatMap((from) =>
      floodContacts.map((to) => this.#converse(from, to, signal)),
    );
    try {
      await Promise.all(conversations);
    } finally {
      this.#agent.destroy();
    }
  }

  async #converse(from: string, to: string, signal: AbortSignal): Promise<void> {
    const { history, team } = this.#options;
    for (let count = 1; !signal.aborted; count += 1) {
      const key = `flood-${from}-${to}-${count}`;
      const content = `Message ${count} from ${from} to ${to}`;
      history.record({ kind: 'send_requested', team, key, from, to, content });
      const startMs = performance.now();
      const { status, text } = await this.#post(key, JSON.stringify({ from, to, content }));
      if (status !== 202) history.record({ kind: 'send_refused', team, key, answer: `${status} ${text}` });
      else history.record({ kind: 'send_accepted', team, key, message: String(JSON.parse(text).id) });
      this.answered.push({ at: Date.now(), latencyMs: performance.now() - startMs });
    }
  }

  #post(key: string, body: string): Promise<{ status: number | undefined; text: string }> {
    const { baseUrl, apiKey } = this.#options;
    return new Promise((resolve, reject) => {
      const sent = request(`${baseUrl}/v1/messages/send`, {
        method: 'POST',
        agent: this.#agent,
        headers: {
          'x-api-key': apiKey,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': key,
        },
      });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => resolve({ status: response.statusCode, text }));
        response.once('error', reject);
      });
      sent.end(body);
    });
  }
}
