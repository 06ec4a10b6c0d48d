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
  /** Gets each answered send. */
  readonly answered: AnsweredSend[];
}

export const floodNumbers = Array.from({ length: 8 }, (_, index) => `+1415555011${index}`);
export const floodContacts = Array.from({ length: 4 }, (_, index) => `+1415555016${index}`);

/**
 * Sends as fast as the service answers: each conversation sends its next message once the last one was answered. Each
 * has a connection. The answers in progress are awaited when the signal aborts.
 * @throws where a send is not answered
 */
export async function flood(
  { history, baseUrl, apiKey, team, answered }: FloodOptions,
  signal: AbortSignal,
): Promise<void> {
  const pool = new Pool(baseUrl);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const converse = async (from: string, to: string) => {
    for (let count = 1; !signal.aborted; count += 1) {
      const key = `flood-${from}-${to}-${count}`;
      const content = `Message ${count} from ${from} to ${to}`;
      history.record({ kind: 'send_requested', team, key, from, to, content });
      const startMs = performance.now();
      const { status, body } = await ask(pool, {
        ...{ method: 'POST', path: '/v1/messages/send', headers: { ...headers, 'idempotency-key': key } },
        body: Buffer.from(JSON.stringify({ from, to, content })),
      });
      if (status === 0) throw new Error('A send was not answered.');
      const text = body.toString();
      if (status !== 202) history.record({ kind: 'send_refused', team, key, answer: `${status} ${text}` });
      else history.record({ kind: 'send_accepted', team, key, message: String(JSON.parse(text).id) });
      answered.push({ at: Date.now(), latencyMs: performance.now() - startMs });
    }
  };
  const conversations = floodNumbers.flatMap((from) => floodContacts.map((to) => converse(from, to)));
  await Promise.all(conversations).finally(() => pool.destroy());
}
