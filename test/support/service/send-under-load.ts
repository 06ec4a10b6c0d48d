import { ApiClient } from './api-client.ts';
import { until } from './until.ts';

/** The sender's record of its messages, against which a crash is checked. */
export interface SendHistory {
  /** Idempotency keys that were answered 202, with the message's id. */
  readonly accepted: Map<string, string>;
  /** Keys whose request got no answer or a 5xx: the message may stand or not. */
  readonly open: Set<string>;
}

interface SenderOptions {
  /** Asked before each request: a restarted service may have another address. */
  readonly baseUrl: () => string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly connections: number;
  /** Begins every Idempotency-Key of this load. */
  readonly prefix: string;
  readonly isOver: () => boolean;
}

/** Sends under load, each message with an Idempotency-Key, and records the answers. */
export async function sendUnderLoad(options: SenderOptions): Promise<SendHistory> {
  const history: SendHistory = { accepted: new Map(), open: new Set() };
  let next = 0;
  const connection = async () => {
    while (!options.isOver()) {
      next += 1;
      const key = `${options.prefix}-${next}`;
      // As a careful client does: the same key again, until there is an answer.
      await until(`an answer for ${key}`, async () => {
        await sendOnce(options, history, key);
        return !history.open.has(key) || options.isOver();
      });
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  return history;
}

/** One attempt for a key; a repeat of an open one shows whether the message was accepted. */
export async function sendOnce(
  options: Pick<SenderOptions, 'baseUrl' | 'key' | 'from' | 'to'>,
  history: SendHistory,
  key: string,
): Promise<void> {
  try {
    const api = new ApiClient(options.baseUrl(), options.key);
    const body = { from: options.from, to: options.to, content: key };
    const answer = await api.post('/v1/messages/send', body, { 'idempotency-key': key });
    if (answer.status === 202) {
      history.accepted.set(key, String(answer.json.id));
      history.open.delete(key);
    } else if (answer.status >= 500) {
      history.open.add(key);
    } else {
      throw new Error(`unexpected answer ${answer.status}: ${answer.text}`);
    }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('unexpected')) throw error;
    history.open.add(key);
  }
}
